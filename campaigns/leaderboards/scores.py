"""The scores of systems on a leaderboard, and the replicates that its tests need.

A server keeps the scores of as many leaderboards as it can: those of a system are one array of numbers, and what they
say beside that is shared by all systems.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from sqlalchemy import Connection, bindparam, select

from campaigns.leaderboards.feedback import LEVEL
from models.results.leaderboard import AT_ONCE, details_of_runs, mean_of_runs
from models.schema.results import Score
from models.storage.arrays import unpack_scores
from steelyard.resampling.interval import percentile_intervals
from steelyard.tables.titles import distinct_titles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from campaigns.leaderboards.cache import LeaderboardCache

EvaluatedRuns = tuple[tuple[int, float | None], ...]
"""The evaluations of a system's runs, each with its end time, which changes when it is queued again."""

BATCH_SYSTEMS = 250
"""Systems whose replicates are read together, which limits memory."""


@dataclass(frozen=True, slots=True)
class ScoredBy:
    """What the scores of systems by one metric have in common."""

    metric: str
    """Its specification."""
    title: str
    signature: str
    higher_is_better: bool
    scale: float


@dataclass(frozen=True, slots=True)
class SystemScore(ScoredBy):
    """The score of a system by one metric."""

    score: float | None
    """None if undefined; the mean of several runs."""
    interval: tuple[float, float] | None
    run_scores: tuple[float | None, ...]
    """Those of several runs; empty for a single one."""


@dataclass(frozen=True, slots=True, eq=False)
class SystemScores(Sequence[SystemScore]):
    """The scores of a system by every metric; empty until all are there."""

    by: tuple[ScoredBy, ...] = ()
    """What they are by: one object for nearly all systems of a leaderboard."""
    figures: array[float] = field(default_factory=lambda: array("d"))
    """Score, low and high end of each; NaN where undefined."""
    run_scores: tuple[tuple[float | None, ...], ...] = ()
    """By every metric, of several runs; empty for a single one."""

    def __len__(self) -> int:
        return len(self.by)

    @overload
    def __getitem__(self, metric: int) -> SystemScore: ...

    @overload
    def __getitem__(self, metric: slice) -> Sequence[SystemScore]: ...

    def __getitem__(self, metric: int | slice) -> SystemScore | Sequence[SystemScore]:
        if isinstance(metric, slice):
            return [self[each] for each in range(*metric.indices(len(self)))]
        of = self.by[metric]
        runs = self.run_scores[metric] if self.run_scores else ()
        return SystemScore(
            of.metric, of.title, of.signature, of.higher_is_better, of.scale, self.score(metric), self.interval(metric),
            runs,
        )  # fmt: skip

    def score(self, metric: int) -> float | None:
        """The score alone; None if undefined."""
        score = self.figures[3 * metric]
        return None if math.isnan(score) else score

    def interval(self, metric: int) -> tuple[float, float] | None:
        """The interval alone; None if undefined."""
        low = self.figures[3 * metric + 1]
        return None if math.isnan(low) else (low, self.figures[3 * metric + 2])

    def with_score(self, metric: int, score: float, interval: tuple[float, float] | None) -> SystemScores:
        """These scores with another one by a metric."""
        figures = self.figures[:]
        figures[3 * metric : 3 * metric + 3] = array("d", (score, *(interval or UNDEFINED)))
        return SystemScores(self.by, figures, self.run_scores)


NO_SCORES = SystemScores()
UNDEFINED = math.nan, math.nan
"""An interval in `SystemScores.figures`."""

_OF_ALL = (
    select(
        *(Score.evaluation_id, Score.specification, Score.title, Score.signature, Score.higher_is_better, Score.scale),
        *(Score.score, Score.replicate_scores),
    )
    .where(Score.evaluation_id.in_(bindparam("evaluations", expanding=True)))
    .order_by(Score.evaluation_id, Score.metric)
)
_OF_METRIC = select(Score.evaluation_id, Score.replicate_scores).where(
    Score.evaluation_id.in_(bindparam("evaluations", expanding=True)), Score.metric == bindparam("position")
)
_DETAILS = (
    select(Score.evaluation_id, Score.details)
    .where(Score.evaluation_id.in_(bindparam("evaluations", expanding=True)))
    .order_by(Score.evaluation_id, Score.metric)
)


def read_system_scores(
    connection: Connection, memory: LeaderboardCache, measured: Sequence[EvaluatedRuns], metrics: int
) -> dict[EvaluatedRuns, SystemScores]:
    """Return the scores of systems whose runs are all done, by every metric; without incomplete ones.

    `memory` keeps their replicates, which the significance tests need.
    """
    found: dict[EvaluatedRuns, SystemScores] = {}
    # A thousand systems need not keep a thousand copies of what nearly all have in common.
    shared: dict[tuple[Any, ...], tuple[ScoredBy, ...]] = {}
    for begin in range(0, len(measured), BATCH_SYSTEMS):
        batch = measured[begin : begin + BATCH_SYSTEMS]
        rows: dict[int, list[Any]] = {}
        evaluations = [evaluation for each in batch for evaluation, _ in each]
        for some in range(0, len(evaluations), AT_ONCE):
            for row in connection.execute(_OF_ALL, {"evaluations": evaluations[some : some + AT_ONCE]}):
                rows.setdefault(row[0], []).append(row)
        whole = [each for each in batch if all(len(rows.get(run, ())) == metrics for run, _ in each)]
        if not whole:
            continue
        # Of each metric, the rows of the runs of each system.
        columns = [[[rows[run][metric] for run, _ in each] for each in whole] for metric in range(metrics)]
        ends = []
        for metric, of_systems in enumerate(columns):
            replicates = _replicates_of_runs(of_systems)
            ends.append(percentile_intervals(replicates, LEVEL))
            for each, own in zip(whole, replicates, strict=True):
                _cache_replicates(memory, each, metric, own)
        for number, each in enumerate(whole):
            runs = [of_systems[number] for of_systems in columns]
            scores = [[row.score for row in of_metric] for of_metric in runs]
            # What is undefined has no interval; a score that is no number may have one.
            figures = [
                (math.nan, *UNDEFINED)
                if None in of_runs
                else (math.fsum(of_runs) / len(of_runs), *(own[number] or UNDEFINED))
                for of_runs, own in zip(scores, ends, strict=True)
            ]
            key = tuple([of_metric[0][1:6] for of_metric in runs])
            if key not in shared:
                shared[key] = _shared(key)
            several = tuple(map(tuple, scores)) if len(each) > 1 else ()
            found[each] = SystemScores(shared[key], array("d", [x for three in figures for x in three]), several)
    return found


def _shared(scores: tuple[Any, ...]) -> tuple[ScoredBy, ...]:
    """What a system's scores are by; the titles as a leaderboard shows them, which tell metrics apart."""
    specifications, titles, *others = zip(*scores, strict=True)
    return tuple(map(ScoredBy, specifications, distinct_titles(titles, specifications), *others))


def read_details(connection: Connection, systems: Sequence[Sequence[int]]) -> dict[int, list[dict[str, float]]]:
    """Return the further figures of systems by every metric, by the first evaluation of each system's runs.

    They are shown too seldom to be kept.
    """
    rows: dict[int, list[Any]] = {}
    wanted = [evaluation for runs in systems for evaluation in runs]
    for begin in range(0, len(wanted), AT_ONCE):
        for row in connection.execute(_DETAILS, {"evaluations": wanted[begin : begin + AT_ONCE]}):
            rows.setdefault(row.evaluation_id, []).append(row)
    of_systems = {runs[0]: zip(*(rows.get(run, []) for run in runs), strict=False) for runs in systems}
    return {first: [details_of_runs(of_runs) for of_runs in by_metric] for first, by_metric in of_systems.items()}


def read_replicates(
    connection: Connection, memory: LeaderboardCache, measured: Sequence[EvaluatedRuns], metric: int
) -> NDArray[np.float64]:
    """Return the replicate scores of systems by one metric, (systems, replicates); all must have scores."""
    found: dict[EvaluatedRuns, NDArray[np.float64]] = {}
    for each in measured:
        if (known := memory.get(("replicates", each, metric))) is not None:
            found[each] = known
    missing = [each for each in measured if each not in found]
    for begin in range(0, len(missing), BATCH_SYSTEMS):
        batch = missing[begin : begin + BATCH_SYSTEMS]
        rows: dict[int, Any] = {}
        evaluations = [evaluation for each in batch for evaluation, _ in each]
        for some in range(0, len(evaluations), AT_ONCE):
            values = {"evaluations": evaluations[some : some + AT_ONCE], "position": metric}
            rows |= {row.evaluation_id: row for row in connection.execute(_OF_METRIC, values)}
        replicates = _replicates_of_runs([[rows[evaluation] for evaluation, _ in each] for each in batch])
        for each, own in zip(batch, replicates, strict=True):
            found[each] = _cache_replicates(memory, each, metric, own)
    return np.stack([found[each] for each in measured])


def _replicates_of_runs(systems: Sequence[Sequence[Any]]) -> NDArray[np.float64]:
    """Return the replicates of systems by one metric, each given by the rows of its runs: their means."""
    replicates = unpack_scores([row.replicate_scores for of_runs in systems for row in of_runs])
    if len(replicates) == len(systems):
        return replicates
    found, begin = [], 0
    for of_runs in systems:
        own = replicates[begin : begin + len(of_runs)]
        found.append(mean_of_runs(own))
        begin += len(of_runs)
    return np.stack(found)


def _cache_replicates(
    memory: LeaderboardCache, measured: EvaluatedRuns, metric: int, replicates: NDArray[np.float64]
) -> NDArray[np.float64]:
    # A copy: the array that was read is a view that keeps a larger buffer alive.
    own = np.array(replicates, dtype=np.float64)
    own.setflags(write=False)
    memory.put(("replicates", measured, metric), own, own.nbytes + 200)
    return own
