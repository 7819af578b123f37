"""Which submissions stand on a leaderboard, and which of them are ranked: the one rule for all callers.

The last submission of each run of a system stands, and a team's primary submission also if it has been replaced.
Withdrawn submissions do not stand. Of each team, the primary submission is ranked; without one, the last that is not
declared contrastive. Systems that organisers submitted themselves have no declaration and are all ranked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from models.schema.roles import DeclaredKind


@dataclass(frozen=True, slots=True)
class Entry:
    """A system on a leaderboard, with the submissions of all its runs."""

    runs: tuple[Any, ...]
    """Rows of `models.results.leaderboard.read_measured_entries`."""
    declared: bool
    """Whether a team has submitted it; otherwise the organisers have."""
    kind: DeclaredKind

    @property
    def team(self) -> str:
        """Empty without a team."""
        return str(self.runs[0].team)

    @property
    def system(self) -> tuple[Any, ...]:
        """Identifies the system."""
        return self.runs[0].team, self.runs[0].name, self.runs[0].campaign_id


class Rankable(Protocol):
    """The properties of an entry that ranking depends on."""

    @property
    def team(self) -> str:
        """Empty without a team."""

    @property
    def declared(self) -> bool:
        """Whether a team has submitted it."""

    @property
    def kind(self) -> DeclaredKind:
        """The kind that its team has declared."""


def standing_entries(rows: Sequence[Any]) -> list[Entry]:
    """The standing entries, in the order of their last submissions; `rows` are those of one protocol."""
    groups = last_of_runs(rows)
    there = {row.submission_id for group in groups for row in group}
    groups += [[row] for row in rows if row.kind == DeclaredKind.PRIMARY and row.submission_id not in there]
    return [entry_of(group) for group in sorted(groups, key=lambda group: max(row.submission_id for row in group))]


def replaced_entries(rows: Sequence[Any], standing: Sequence[Entry]) -> list[Entry]:
    """All submissions of `rows` that do not stand, each as an entry of its own."""
    there = {row.submission_id for entry in standing for row in entry.runs}
    return [entry_of([row]) for row in rows if row.submission_id not in there]


def single_entries(rows: Sequence[Any]) -> list[Entry]:
    """Every submission as an entry of its own."""
    return [entry_of([row]) for row in rows]


def last_of_runs(rows: Sequence[Any]) -> list[list[Any]]:
    """The last submission of each run, grouped by system and campaign.

    If a system was submitted both with named runs and without, the later kind counts.
    """
    of_system: dict[tuple[Any, ...], list[Any]] = {}
    for row in sorted(rows, key=lambda row: row.submission_id):
        of_system.setdefault((row.team, row.name, row.campaign_id), []).append(row)
    found = []
    for of_one in of_system.values():
        last_of_run = {row.run: row for row in of_one}
        named = bool(of_one[-1].run)
        # Sorted here: databases sort names differently.
        found.append([row for run, row in sorted(last_of_run.items()) if bool(run) == named])
    return found


def are_ranked(entries: Sequence[Rankable]) -> list[bool]:
    """Whether each entry is ranked; entries are in the order of their last submissions."""
    of_team: dict[str, list[int]] = {}
    for place, entry in enumerate(entries):
        of_team.setdefault(entry.team, []).append(place)
    chosen: set[int] = set()
    for team, places in of_team.items():
        chosen.update(_ranked_of_team(entries, places) if team else places)
    return [place in chosen for place in range(len(entries))]


def _ranked_of_team(entries: Sequence[Rankable], places: Sequence[int]) -> list[int]:
    if primary := [place for place in places if entries[place].kind == DeclaredKind.PRIMARY]:
        return primary
    own = [place for place in places if not entries[place].declared]
    last = [p for p in places if entries[p].declared and entries[p].kind != DeclaredKind.CONTRASTIVE]
    return [*own, *last[-1:]]


def are_repeated(entries: Sequence[Entry]) -> list[bool]:
    """Whether the system of each entry has another standing submission."""
    count = Counter(entry.system for entry in entries)
    return [count[entry.system] > 1 for entry in entries]


def entry_of(group: Sequence[Any]) -> Entry:
    """An entry of the runs of one system."""
    kinds = {row.kind for row in group if row.kind is not None}
    kind = next(
        (kind for kind in (DeclaredKind.PRIMARY, DeclaredKind.CONTRASTIVE) if kind in kinds), DeclaredKind.UNDECLARED
    )
    return Entry(tuple(group), bool(kinds), kind)
