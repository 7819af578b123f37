"""Lasting changes of level as table rows, for the texts of a run and of a history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.nightly.text import level_of, place_of

if TYPE_CHECKING:
    from analysis.nightly.series import Change

CHANGE_HEADER = [
    *("System", "Test set", "Metric", "Since", "Runs"),
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
        f"{change.runs_before}+{change.runs_after}",
        f"{change.before:.{places}f}",
        f"{change.after:.{places}f}",
        f"{change.difference:+.{places}f}",
        f"{change.p:.3g}",
        "n/a" if change.p_segments is None else f"{change.p_segments:.3g}",
        level_of(change),
    ]
