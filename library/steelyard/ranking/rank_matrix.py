"""Systems over many test sets: their scores and ranks side by side, gaps included."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class RankedScore:
    """A system's score on one test set, and its rank there."""

    score: float
    rank: float | None = None
    """By score, the mean of equal ones; None where it is not ranked."""
    low: int | None = None
    """The best rank that the tests allow; None where nothing was tested, as the next two."""
    high: int | None = None
    cluster: int | None = None
    """Counted from 1."""


@dataclass(frozen=True)
class RankMatrix:
    """Rows of systems, columns of test sets."""

    test_sets: tuple[str, ...]
    systems: tuple[str, ...]
    """Those with a rank on every test set first, by mean rank; then the others, by theirs."""
    cells: Mapping[tuple[str, str], RankedScore]
    """By system and test set; what is not there is a gap, never a score of 0."""
    mean_ranks: Mapping[str, float]
    """Over the test sets where the system is ranked; NaN where it is nowhere."""
    autoranks: Mapping[str, float] = field(default_factory=dict)
    """The mean AutoRanks of systems that have one."""

    def gaps(self, system: str) -> int:
        """On how many test sets a system has no rank.

        Parameters
        ----------
        system : str

        Returns
        -------
        int
        """
        return sum(not _ranked(self.cells.get((system, each))) for each in self.test_sets)

    def best(self, test_set: str) -> set[str]:
        """The systems that no system is ranked before.

        Parameters
        ----------
        test_set : str

        Returns
        -------
        set of str
        """
        ranks = {
            system: cell.rank
            for system in self.systems
            if (cell := self.cells.get((system, test_set))) is not None and cell.rank is not None
        }
        return {system for system, rank in ranks.items() if rank == min(ranks.values())}


def rank_matrix(boards: Mapping[str, Mapping[str, RankedScore]]) -> RankMatrix:
    """The matrix of several boards.

    Parameters
    ----------
    boards : mapping of str to mapping of str to RankedScore
        By test set, in the order of the columns, and by system.

    Returns
    -------
    RankMatrix
    """
    cells = {(system, test_set): cell for test_set, board in boards.items() for system, cell in board.items()}
    names = list(dict.fromkeys(system for board in boards.values() for system in board))
    means = {name: _mean([cell.rank for each in boards if (cell := cells.get((name, each)))]) for name in names}
    matrix = RankMatrix(tuple(boards), (), cells, means)
    order = sorted(names, key=lambda name: (matrix.gaps(name) > 0, math.isnan(means[name]), means[name], name))
    return RankMatrix(tuple(boards), tuple(order), cells, means)


def _mean(ranks: Sequence[float | None]) -> float:
    known = [rank for rank in ranks if rank is not None]
    return math.fsum(known) / len(known) if known else math.nan


def _ranked(cell: RankedScore | None) -> bool:
    return cell is not None and cell.rank is not None
