"""Scores and ranks of systems over many test sets, as tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.tables.table import Column, Kind, Table

if TYPE_CHECKING:
    from steelyard.ranking.rank_matrix import RankedScore, RankMatrix

MEAN = Column("mean_rank", "Mean rank", Kind.NUMBER, missing="")
AUTORANK = Column("autorank", "AutoRank", Kind.NUMBER, missing="")
GAPS = Column("gaps", "Gaps", Kind.COUNT)


def tables_of(matrix: RankMatrix, metric: str, places: int = 1, *, higher_is_better: bool = True) -> list[Table]:
    """A table of scores, and one of rank ranges where there are some.

    Parameters
    ----------
    matrix : RankMatrix
    metric : str
        Its title.
    places : int
        Decimals of scores.
    higher_is_better : bool

    Returns
    -------
    list of Table
        A row for each system, a column for each test set; the best of each test set is stressed.
    """
    arrow = "" if higher_is_better else ", lower is better"
    scores = [Column(each, each, Kind.NUMBER, places=places, missing="") for each in matrix.test_sets]
    ranges = [Column(each, each, Kind.RANGE, missing="") for each in matrix.test_sets]
    columns = [Column("system", "System", Kind.NAME), MEAN, *([AUTORANK] if matrix.autoranks else []), GAPS]
    best = frozenset(
        (row, column)
        for column, test_set in enumerate(matrix.test_sets, start=len(columns))
        for row, system in enumerate(matrix.systems)
        if system in matrix.best(test_set)
    )
    note = "Mean rank: over the test sets where a system is ranked; those without gaps come first."
    found = [
        Table(
            [*columns, *scores],
            [[*_totals(matrix, system), *_cells(matrix, system, "score")] for system in matrix.systems],
            f"{metric} of all test sets{arrow}",
            "scores",
            [note],
            best=best,
        )
    ]
    if any(cell.low is not None for cell in matrix.cells.values()):
        found.append(
            Table(
                [*columns, *ranges],
                [[*_totals(matrix, system), *_cells(matrix, system, "range")] for system in matrix.systems],
                f"Ranks by {metric} on all test sets",
                "ranks",
                best=best,
            )
        )
    return found


def _totals(matrix: RankMatrix, system: str) -> list[object]:
    mean = matrix.mean_ranks[system]
    autorank = [matrix.autoranks.get(system)] if matrix.autoranks else []
    return [system, None if math.isnan(mean) else mean, *autorank, matrix.gaps(system)]


def _cells(matrix: RankMatrix, system: str, what: str) -> list[object]:
    return [_cell(matrix.cells.get((system, each)), what) for each in matrix.test_sets]


def _cell(cell: RankedScore | None, what: str) -> object:
    if cell is None:
        return None
    if what == "score":
        return cell.score
    return None if cell.low is None or cell.high is None else (cell.low, cell.high)
