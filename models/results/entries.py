"""Which submissions stand on a leaderboard, and which of them are ranked: one rule, whoever asks.

Of each run of a system its last submission stands, and a team's primary one also where another came after it. What was
withdrawn does not stand. Ranked is, of each team, its primary submission; where it has named none, the last one that
it has not called contrastive. Systems that organisers have put in themselves have no declaration and are all ranked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from models.schema.roles import DeclaredKind

RULE = (
    "Of each team its primary submission is ranked or, where it has named none, the last one that it has not called "
    "contrastive."
)
"""What leaderboards say of it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A system on a leaderboard, with the submissions of all its runs."""

    runs: tuple[Any, ...]
    """Rows of `models.results.leaderboard.read_measured_entries`."""
    declared: bool
    """Whether a team has submitted it; else it is the organisers' own."""
    kind: DeclaredKind

    @property
    def team(self) -> str:
        """Empty for a system of no team."""
        return str(self.runs[0].team)

    @property
    def system(self) -> tuple[Any, ...]:
        """What it is a submission of."""
        return self.runs[0].team, self.runs[0].name, self.runs[0].campaign_id


class Rankable(Protocol):
    """What the rule needs to know of an entry."""

    @property
    def team(self) -> str:
        """Empty for a system of no team."""

    @property
    def declared(self) -> bool:
        """Whether a team has submitted it."""

    @property
    def kind(self) -> DeclaredKind:
        """What its team has called it."""


def standing_entries(rows: Sequence[Any]) -> list[Entry]:
    """The entries that stand, in the order of their last submissions; `rows` are those of one protocol."""
    groups = last_of_runs(rows)
    there = {row.submission_id for group in groups for row in group}
    groups += [[row] for row in rows if row.kind == DeclaredKind.PRIMARY and row.submission_id not in there]
    return [entry_of(group) for group in sorted(groups, key=lambda group: max(row.submission_id for row in group))]


def replaced_entries(rows: Sequence[Any], standing: Sequence[Entry]) -> list[Entry]:
    """All submissions of `rows` that do not stand, each by itself."""
    there = {row.submission_id for entry in standing for row in entry.runs}
    return [entry_of([row]) for row in rows if row.submission_id not in there]


def single_entries(rows: Sequence[Any]) -> list[Entry]:
    """Every submission by itself."""
    return [entry_of([row]) for row in rows]


def last_of_runs(rows: Sequence[Any]) -> list[list[Any]]:
    """The last submission of each run, those of one system (in each campaign) together.

    A system that was submitted with named runs and without stands with what came last.
    """
    of_system: dict[tuple[Any, ...], list[Any]] = {}
    for row in sorted(rows, key=lambda row: row.submission_id):
        of_system.setdefault((row.team, row.name, row.campaign_id), []).append(row)
    found = []
    for of_one in of_system.values():
        last_of_run = {row.run: row for row in of_one}
        named = bool(of_one[-1].run)
        # Sorted here: databases differ in how they order names.
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


def are_twice(entries: Sequence[Entry]) -> list[bool]:
    """Whether the system of each entry stands with another submission, too."""
    count = Counter(entry.system for entry in entries)
    return [count[entry.system] > 1 for entry in entries]


def entry_of(group: Sequence[Any]) -> Entry:
    """The runs of one system together."""
    kinds = {row.kind for row in group if row.kind is not None}
    kind = next(
        (kind for kind in (DeclaredKind.PRIMARY, DeclaredKind.CONTRASTIVE) if kind in kinds), DeclaredKind.UNDECLARED
    )
    return Entry(tuple(group), bool(kinds), kind)
