"""Metrics over many language pairs, as tables and rows for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from steelyard.meta_evaluation.task_results import SOFT
from steelyard.tables.table import Column, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.tables.delimited import Cell

COLUMNS = ("metric", "pair", "statistic", "systems", "segments", "value", "rank")
"""Of CSV and TSV: a row for each metric and task, and one for its average, without a pair."""
TITLES = {SOFT: "SPA"}


class _Task(Protocol):
    @property
    def pair(self) -> str: ...
    @property
    def statistic(self) -> str: ...
    @property
    def systems(self) -> int: ...
    @property
    def segments(self) -> int: ...


class _Score(Protocol):
    @property
    def value(self) -> float: ...
    @property
    def rank(self) -> int | None: ...


class _Metric(Protocol):
    @property
    def metric(self) -> str: ...
    @property
    def average(self) -> float | None: ...
    @property
    def rank(self) -> int | None: ...
    @property
    def scores(self) -> Sequence[_Score | None]: ...


class Shown(Protocol):
    """What tables show: a `MetricsTask`, or the document that a server makes of one."""

    @property
    def tasks(self) -> Sequence[_Task]:
        """The columns."""

    @property
    def metrics(self) -> Sequence[_Metric]:
        """The rows."""

    @property
    def left_out(self) -> Sequence[str]:
        """Pairs that nothing can be said of."""

    @property
    def trials(self) -> int:
        """Of the permutation tests."""

    @property
    def alpha(self) -> float:
        """Their level."""


def title_of(task: _Task) -> str:
    """The title of a column.

    Parameters
    ----------
    task : object with `pair` and `statistic`

    Returns
    -------
    str
    """
    return f"{task.pair} {TITLES.get(task.statistic, task.statistic)}"


def tables_of(found: Shown, width: int = 3) -> list[Table]:
    """The values, and the ranks where there were tests; the first group of each column is stressed.

    Parameters
    ----------
    found : Shown
    width : int
        Decimals.

    Returns
    -------
    list of Table
    """
    name, rank = Column("metric", "Metric", Kind.NAME), Column("rank", "Rank", Kind.ID, missing="-")
    average = Column("average", "Average", Kind.NUMBER, places=width, missing="n/a")
    titles = [title_of(task) for task in found.tasks]
    values = [Column(each, each, Kind.NUMBER, places=width, missing="n/a") for each in titles]
    best = {(row, 2) for row, each in enumerate(found.metrics) if each.rank == 1}
    best |= {
        (row, column)
        for row, each in enumerate(found.metrics)
        for column, score in enumerate(each.scores, start=3)
        if score is not None and score.rank == 1
    }
    tables = [
        Table(
            [name, rank, average, *values],
            [
                [
                    each.metric,
                    each.rank,
                    each.average,
                    *(None if score is None else score.value for score in each.scores),
                ]
                for each in found.metrics
            ],
            "Metrics of all pairs",
            "values",
            notes(found),
            best=frozenset(best),
        )
    ]
    if found.trials:
        ranks = [Column(each, each, Kind.ID, missing="-") for each in titles]
        rows = [
            [each.metric, each.rank, *(None if score is None else score.rank for score in each.scores)]
            for each in found.metrics
        ]
        shifted = frozenset((row, max(column - 1, 1)) for row, column in best)
        tables.append(Table([name, rank, *ranks], rows, "Ranks of metrics", "ranks", best=shifted))
    return tables


def notes(found: Shown) -> list[str]:
    """What the figures are.

    Parameters
    ----------
    found : Shown

    Returns
    -------
    list of str
    """
    said = [
        "SPA: soft pairwise accuracy of systems; acc-eq: pairwise accuracy of segments with calibrated ties. The "
        f"average is over all {len(found.tasks)} columns; a metric that lacks one has none."
    ]
    if found.trials:
        said.append(
            "A metric begins a new rank where one of the rank before is significantly better: one-sided permutation "
            f"tests of {found.trials:,} trials, p of at most {found.alpha:g}."
        )
    if found.left_out:
        said.append(
            f"Left out, without scores of the same segments by metrics and people: {', '.join(found.left_out)}."
        )
    return said


def rows_of(found: Shown) -> Iterator[list[Cell]]:
    """The rows of CSV and TSV, by the columns of `COLUMNS`.

    Parameters
    ----------
    found : Shown
    """
    for each in found.metrics:
        yield [each.metric, None, "average", None, None, each.average, each.rank]
        for task, score in zip(found.tasks, each.scores, strict=True):
            if score is not None:
                yield [
                    *(each.metric, task.pair, task.statistic, task.systems, task.segments),
                    *(score.value, score.rank),
                ]
