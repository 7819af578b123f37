"""The scores of systems on a leaderboard: computed once for each evaluation, then cached."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from campaigns.leaderboards.feedback import LEVEL
from models.results.leaderboard import read_scores, score_of_runs
from steelyard.resampling.interval import percentile_interval
from steelyard.tables.titles import with_distinct_titles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from campaigns.leaderboards.cache import LeaderboardCache

EvaluatedRuns = tuple[tuple[int, float | None], ...]
"""The evaluations of a system's runs, each with its end time, which changes when it is queued again."""

BATCH_SYSTEMS = 250
"""Systems whose replicates are read together, which limits memory."""

SCORE_BYTES = 600
"""Approximate size of one `SystemScore`."""


@dataclass(frozen=True, slots=True)
class SystemScore:
    """The score of a system by one metric."""

    metric: str
    """Its specification."""
    title: str
    signature: str
    higher_is_better: bool
    scale: float
    score: float | None
    """None if undefined; the mean of several runs."""
    interval: tuple[float, float] | None
    run_scores: tuple[float | None, ...]
    details: Mapping[str, float]


def read_system_scores(
    connection: Connection, memory: LeaderboardCache, measured: Sequence[EvaluatedRuns], metrics: int
) -> dict[EvaluatedRuns, tuple[SystemScore, ...]]:
    """Return the scores of systems whose runs are all done, by every metric; without incomplete ones."""
    found: dict[EvaluatedRuns, tuple[SystemScore, ...]] = {}
    missing = []
    for each in measured:
        known = memory.get(("scores", each))
        if known is None:
            missing.append(each)
        else:
            found[each] = known
    for begin in range(0, len(missing), BATCH_SYSTEMS):
        batch = missing[begin : begin + BATCH_SYSTEMS]
        rows = read_scores(connection, [evaluation for each in batch for evaluation, _ in each])
        for each in batch:
            of_runs = [rows.get(evaluation, []) for evaluation, _ in each]
            if any(len(of_run) != metrics for of_run in of_runs):
                continue
            scores = []
            for metric, runs in enumerate(zip(*of_runs, strict=True)):
                score = score_of_runs(runs)
                # The significance tests will need them.
                _cache_replicates(memory, each, metric, score.replicate_scores)
                ends = None if score.score is None else percentile_interval(score.replicate_scores, LEVEL)
                scores.append(
                    SystemScore(
                        metric=score.specification,
                        title=score.title,
                        signature=score.signature,
                        higher_is_better=score.higher_is_better,
                        scale=score.scale,
                        score=None if score.score is None or math.isnan(score.score) else score.score,
                        interval=ends,
                        run_scores=score.run_scores,
                        details=score.details,
                    )
                )
            found[each] = tuple(with_distinct_titles(scores, "metric"))
            memory.put(("scores", each), found[each], SCORE_BYTES * len(scores))
    return found


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
        rows = read_scores(connection, [evaluation for each in batch for evaluation, _ in each], metric=metric)
        for each in batch:
            score = score_of_runs([rows[evaluation][0] for evaluation, _ in each])
            found[each] = _cache_replicates(memory, each, metric, score.replicate_scores)
    return np.stack([found[each] for each in measured])


def _cache_replicates(
    memory: LeaderboardCache, measured: EvaluatedRuns, metric: int, replicates: NDArray[np.float64]
) -> NDArray[np.float64]:
    # A copy: the array that was read is a view that keeps a larger buffer alive.
    own = np.array(replicates, dtype=np.float64)
    own.setflags(write=False)
    memory.put(("replicates", measured, metric), own, own.nbytes + 200)
    return own
