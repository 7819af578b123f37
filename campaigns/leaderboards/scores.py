"""What a board shows of a system's scores: computed once for each evaluation, then remembered."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from campaigns.leaderboards.feedback import LEVEL
from metrics.resampling.interval import percentile_interval
from metrics.titles import titled_apart
from models.results.leaderboard import read_scores, score_of_runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from campaigns.leaderboards.cache import Memory

Measured = tuple[tuple[int, float | None], ...]
"""The evaluations of a system's runs, each with the moment at which it ended: queued anew, it is another one."""

AT_ONCE = 250
"""Systems whose replicates are read together, which bounds the memory."""

FIGURE_BYTES = 600
"""About what one takes, all told."""


@dataclass(frozen=True, slots=True)
class Figure:
    """The score of a system by one metric."""

    metric: str
    """Its specification."""
    title: str
    signature: str
    higher_is_better: bool
    scale: float
    score: float | None
    """None where it is undefined; of several runs the mean."""
    interval: tuple[float, float] | None
    run_scores: tuple[float | None, ...]
    details: Mapping[str, float]


def read_figures(
    connection: Connection, memory: Memory, measured: Sequence[Measured], metrics: int
) -> dict[Measured, tuple[Figure, ...]]:
    """The figures of systems whose runs are all done, by every metric; without those that lack some."""
    found: dict[Measured, tuple[Figure, ...]] = {}
    lacking = []
    for each in measured:
        known = memory.get(("figures", each))
        if known is None:
            lacking.append(each)
        else:
            found[each] = known
    for begin in range(0, len(lacking), AT_ONCE):
        some = lacking[begin : begin + AT_ONCE]
        rows = read_scores(connection, [evaluation for each in some for evaluation, _ in each])
        for each in some:
            of_runs = [rows.get(evaluation, []) for evaluation, _ in each]
            if any(len(of_run) != metrics for of_run in of_runs):
                continue
            made = []
            for metric, runs in enumerate(zip(*of_runs, strict=True)):
                score = score_of_runs(runs)
                # Pairs will be tested by them sooner or later.
                _remember(memory, each, metric, score.replicate_scores)
                ends = None if score.score is None else percentile_interval(score.replicate_scores, LEVEL)
                made.append(
                    Figure(
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
            found[each] = tuple(titled_apart(made, "metric"))
            memory.put(("figures", each), found[each], FIGURE_BYTES * len(made))
    return found


def read_replicates(
    connection: Connection, memory: Memory, measured: Sequence[Measured], metric: int
) -> NDArray[np.float64]:
    """(systems, replicates) the replicate scores by one metric of systems that have figures."""
    found: dict[Measured, NDArray[np.float64]] = {}
    for each in measured:
        if (known := memory.get(("replicates", each, metric))) is not None:
            found[each] = known
    lacking = [each for each in measured if each not in found]
    for begin in range(0, len(lacking), AT_ONCE):
        some = lacking[begin : begin + AT_ONCE]
        rows = read_scores(connection, [evaluation for each in some for evaluation, _ in each], metric=metric)
        for each in some:
            score = score_of_runs([rows[evaluation][0] for evaluation, _ in each])
            found[each] = _remember(memory, each, metric, score.replicate_scores)
    return np.stack([found[each] for each in measured])


def _remember(memory: Memory, measured: Measured, metric: int, replicates: NDArray[np.float64]) -> NDArray[np.float64]:
    # A copy: what is read from the database holds on to more than its numbers.
    own = np.array(replicates, dtype=np.float64)
    own.setflags(write=False)
    memory.put(("replicates", measured, metric), own, own.nbytes + 200)
    return own
