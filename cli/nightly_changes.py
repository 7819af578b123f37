"""Levels that lasted, as rows of a table; a night's text and a history's have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.night_series import Change
    from analysis.regression import Subject

CHANGE_HEADER = [
    *("System", "Test set", "Metric", "Since", "Nights"),
    *("Before", "After", "Difference", "p", "p segments", "Level"),
]


def change_row(change: Change) -> list[str]:
    """A change in the columns of `CHANGE_HEADER`."""
    places = 2 if max(abs(change.before), abs(change.after)) >= 1 else 4
    return [
        change.subject.system,
        place_of(change.subject),
        change.title,
        change.since,
        f"{change.nights_before}+{change.nights_after}",
        f"{change.before:.{places}f}",
        f"{change.after:.{places}f}",
        f"{change.difference:+.{places}f}",
        f"{change.p:.3g}",
        "n/a" if change.p_segments is None else f"{change.p_segments:.3g}",
        level_of(change),
    ]


def level_of(change: Change) -> str:
    """The direction, and what else is to be known, in words."""
    told = "worse" if change.worse else "better"
    return told + (", new" if change.new and change.counts else "" if change.counts else ", too little to count")


def place_of(subject: Subject) -> str:
    """Test set and references, short."""
    return f"{subject.test_set} ({'+'.join(subject.references)})"
