"""Rows of a leaderboard as a table for programs, with the same columns from the command line and from pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from models.results.boards import BoardSummary
    from models.schema.roles import DeclaredKind
    from models.schema.states import EvaluationState
    from steelyard.tables.delimited import Cell

_BOARD = ("campaign", "test_set", "version", "references", "system", "team", "runs", "state")
_SCORE = (
    *("metric", "rank", "rank_low", "rank_high", "cluster", "wins"),
    *("score", "low", "high", "level", "signature"),
)
_SAID = ("submission", "kind", "ranked", "constrained", "late_seconds")
"""What teams declare about their submissions, and what follows from it."""

COLUMNS = (*_BOARD, *_SCORE, *_SAID)


class _System(Protocol):
    """A system of a leaderboard, in any view of it."""

    @property
    def runs(self) -> Sequence[str]:
        """Names of its runs."""

    @property
    def submissions(self) -> Sequence[int]:
        """One for each run; the last one identifies it."""

    @property
    def state(self) -> EvaluationState:
        """The state of its evaluation."""

    @property
    def kind(self) -> DeclaredKind:
        """Its declared kind."""

    @property
    def ranked(self) -> bool:
        """Whether it is ranked."""

    @property
    def constrained(self) -> bool | None:
        """Whether it is constrained; None if not specified."""

    @property
    def late_seconds(self) -> float:
        """How long after the deadline it came."""


def scored_cells(
    metric: str,
    place: Mapping[str, int | None],
    score: float | None,
    interval: tuple[float, float] | None,
    level: float,
    signature: str,
) -> list[Cell]:
    """Return the cells for one metric; `place` has the rank and related columns."""
    ends = (*interval, level) if interval else (None, None, None)
    return [metric, *(place[column] for column in _SCORE[1:6]), score, *ends, signature]


def rows_of(
    listed: BoardSummary, system: _System, name: str, team: str, scored: Sequence[Sequence[Cell]]
) -> list[list[Cell]]:
    """Return a row for each metric, or one without scores if there are none; empty if undefined."""
    begin: list[Cell] = [listed.campaign, listed.test_set, listed.version, "+".join(listed.references)]
    begin += [name, team, len(system.runs), system.state.value]
    constrained = {True: "yes", False: "no", None: ""}[system.constrained]
    end: list[Cell] = [max(system.submissions), system.kind.value, "yes" if system.ranked else "no", constrained]
    end.append(f"{system.late_seconds:.0f}")
    return [[*begin, *cells, *end] for cells in scored or [[None] * len(_SCORE)]]
