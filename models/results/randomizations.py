"""Stored randomization tests: written once, read for any pairs of systems."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from models.database.upsert import insert_ignore
from models.schema.declarative import aliased
from models.schema.queue import Evaluation
from models.schema.results import Randomization, Score, SystemRuns
from models.schema.states import EvaluationState
from steelyard.resampling.randomization import TRIALS

Runs = tuple[int, ...]
"""A system in a test: the evaluations of all its runs, ascending."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A test of system b against system a, given by positions in a list, by one metric of their protocol."""

    metric: int
    a: int
    b: int


@dataclass(frozen=True, slots=True)
class PairTests:
    """Tests of pairs of systems by metrics of one protocol, stored or not."""

    protocol_id: int
    pairs: Sequence[tuple[Runs, Runs]]
    metrics: Sequence[int]
    """Positions in the protocol's list."""
    seed: int
    trials: int = TRIALS


@dataclass(frozen=True, slots=True)
class RandomizationPlan:
    """The tests of a comparison and their parameters."""

    protocol_id: int
    systems: tuple[Runs, ...]
    pairs: tuple[Pair, ...]
    trials: int
    seed: int


@dataclass(frozen=True, slots=True)
class StoredTest:
    """The result of a test of one system against another."""

    difference: float
    """Score of the second minus score of the first; for several runs, of the means."""
    as_large: int
    """Trials with a difference at least as large."""


def mean_scores(connection: Connection, systems: Iterable[Runs], metric: int) -> dict[Runs, float]:
    """The score of each system by a metric, the mean over its runs; systems without a score are left out."""
    wanted = list(systems)
    rows = connection.execute(
        select(Score.evaluation_id, Score.score).where(
            Score.evaluation_id.in_({evaluation for runs in wanted for evaluation in runs}),
            Score.metric == metric,
            Score.score.is_not(None),
        )
    )
    score_of = {row.evaluation_id: row.score for row in rows}
    return {
        runs: math.fsum(score_of[each] for each in runs) / len(runs)
        for runs in wanted
        if all(each in score_of for each in runs)
    }


def read_randomizations(
    connection: Connection, systems: Sequence[Runs], metric: int, *, trials: int, seed: int
) -> dict[tuple[Runs, Runs], StoredTest]:
    """The stored tests among these systems by one metric: (a, b) -> result, a < b as tuples."""
    runs_of = {key: runs for runs, key in tested_systems(connection, systems).items()}
    first, second = aliased(SystemRuns), aliased(SystemRuns)
    hashes = [_digest(runs) for runs in runs_of.values()]
    rows = connection.execute(
        select(Randomization.a_id, Randomization.b_id, Randomization.difference, Randomization.as_large)
        .join(first, first.id == Randomization.a_id)
        .join(second, second.id == Randomization.b_id)
        .where(
            first.content_hash.in_(hashes),
            second.content_hash.in_(hashes),
            Randomization.metric == metric,
            Randomization.trials == trials,
            Randomization.seed == seed,
        )
    )
    return {(runs_of[row.a_id], runs_of[row.b_id]): StoredTest(row.difference, row.as_large) for row in rows}


def store_randomizations(connection: Connection, plan: RandomizationPlan, as_large: NDArray[np.int64]) -> int | None:
    """Store the results of a comparison; existing tests are identical and stay.

    Parameters
    ----------
    as_large : ndarray of int64, shape (pairs,)
        Trials with a difference at least as large, for each pair of the plan; -1 where a score is undefined.

    Returns
    -------
    int or None
        An evaluation that is gone or no longer done, in which case nothing is stored; otherwise None.
    """
    wanted = sorted({evaluation for runs in plan.systems for evaluation in runs})
    # Locked, so that none is deleted or recomputed while we write rows that depend on it.
    done = select(Evaluation.id).where(Evaluation.id.in_(wanted), Evaluation.state == EvaluationState.DONE)
    there = set(connection.scalars(done.order_by(Evaluation.id).with_for_update(read=True)))
    for evaluation in wanted:
        if evaluation not in there:
            return evaluation
    _add_system_runs(connection, plan.systems)
    key_of = tested_systems(connection, plan.systems)
    metrics = {pair.metric for pair in plan.pairs}
    scores = {metric: mean_scores(connection, plan.systems, metric) for metric in metrics}
    rows = []
    for pair, count in zip(plan.pairs, as_large.tolist(), strict=True):
        a, b = sorted((plan.systems[pair.a], plan.systems[pair.b]))
        rows.append(
            {
                "a_id": key_of[a],
                "b_id": key_of[b],
                "metric": pair.metric,
                "trials": plan.trials,
                "seed": plan.seed,
                "difference": scores[pair.metric][b] - scores[pair.metric][a],
                "as_large": count,
            }
        )
    # All transactions insert in the same order: two that store the same rows cannot deadlock.
    rows.sort(key=lambda row: (row["a_id"], row["b_id"], row["metric"]))
    insert_ignore(connection, Randomization, rows)
    return None


def tested_systems(connection: Connection, systems: Iterable[Runs]) -> dict[Runs, int]:
    """The keys of those systems that have been tested."""
    runs_of = {_digest(runs): runs for runs in systems}
    found = select(SystemRuns.id, SystemRuns.content_hash).where(SystemRuns.content_hash.in_(runs_of))
    return {runs_of[row.content_hash]: row.id for row in connection.execute(found)}


def _add_system_runs(connection: Connection, systems: Iterable[Runs]) -> None:
    prefixes = {runs[:length] for runs in systems for length in range(1, len(runs) + 1)}
    known: Mapping[Runs, int] = {}
    for length in sorted({len(prefix) for prefix in prefixes}):
        chosen = sorted(prefix for prefix in prefixes if len(prefix) == length)
        rows = [
            {
                "content_hash": _digest(prefix),
                "evaluation_id": prefix[-1],
                "before_id": known[prefix[:-1]] if length > 1 else None,
            }
            for prefix in chosen
        ]
        insert_ignore(connection, SystemRuns, rows)
        known = tested_systems(connection, chosen)


def _digest(runs: Runs) -> str:
    return hashlib.sha256(json.dumps(runs).encode()).hexdigest()
