"""The scores of systems on a leaderboard, and the replicates that its tests need."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from campaigns.leaderboards.feedback import LEVEL
from models.results.leaderboard import read_scores, score_of_runs
from steelyard.resampling.interval import percentile_intervals
from steelyard.tables.titles import distinct_titles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from campaigns.leaderboards.cache import LeaderboardCache
    from models.results.leaderboard import LeaderboardScore

EvaluatedRuns = tuple[tuple[int, float | None], ...]
"""The evaluations of a system's runs, each with its end time, which changes when it is queued again."""

BATCH_SYSTEMS = 250
"""Systems whose replicates are read together, which limits memory."""


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
    """Return the scores of systems whose runs are all done, by every metric; without incomplete ones.

    `memory` keeps their replicates, which the significance tests need.
    """
    found: dict[EvaluatedRuns, tuple[SystemScore, ...]] = {}
    # A thousand systems need not keep a thousand copies of what nearly all have in common.
    texts: dict[str, str] = {}
    titles: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for begin in range(0, len(measured), BATCH_SYSTEMS):
        batch = measured[begin : begin + BATCH_SYSTEMS]
        rows = read_scores(connection, [evaluation for each in batch for evaluation, _ in each])
        scores = {
            each: [score_of_runs(of_runs) for of_runs in zip(*(rows[run] for run, _ in each), strict=True)]
            for each in batch
            if all(len(rows.get(run, ())) == metrics for run, _ in each)
        }
        if not scores:
            continue
        intervals = []
        for metric in range(metrics):
            replicates = np.stack([of_system[metric].replicate_scores for of_system in scores.values()])
            intervals.append(percentile_intervals(replicates, LEVEL))
            for each, own in zip(scores, replicates, strict=True):
                _cache_replicates(memory, each, metric, own)
        for (each, of_system), ends in zip(scores.items(), zip(*intervals, strict=True), strict=True):
            named = tuple((score.title, score.specification) for score in of_system)
            if named not in titles:
                titles[named] = distinct_titles(*zip(*named, strict=True))
            found[each] = tuple(map(partial(_system_score, texts), of_system, titles[named], ends))
    return found


def _system_score(
    texts: dict[str, str], score: LeaderboardScore, title: str, ends: tuple[float, float] | None
) -> SystemScore:
    return SystemScore(
        metric=texts.setdefault(score.specification, score.specification),
        title=title,
        signature=texts.setdefault(score.signature, score.signature),
        higher_is_better=score.higher_is_better,
        scale=score.scale,
        score=None if score.score is None or math.isnan(score.score) else score.score,
        interval=None if score.score is None else ends,
        run_scores=score.run_scores,
        details=score.details,
    )


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
