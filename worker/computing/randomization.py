"""Trials of paired randomization tests, computed from stored statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine

from models.corpus.protocols import read_protocol
from models.database.session import reading
from models.results.randomizations import RandomizationPlan, Runs
from models.results.statistics import read_statistics
from steelyard.resampling.randomization import permutation_counts
from worker.computing.scoring import cached_metric

LARGEST_TABLE = 1 << 24
"""Limit on the statistics (float64) of systems held in memory at once."""


def count_trials(engine: Engine, plan: RandomizationPlan, first_trial: int, last_trial: int) -> NDArray[np.int64]:
    """Count the trials with a difference at least as large as that of each pair.

    The counts of several ranges of trials are to be added.

    Returns
    -------
    ndarray of int64, shape (pairs,)
        -1 where a score is undefined.
    """
    with reading(engine) as connection:
        protocol = read_protocol(connection, plan.protocol_id)
    counts = np.zeros(len(plan.pairs), np.int64)
    for position in sorted({pair.metric for pair in plan.pairs}):
        metric = cached_metric(protocol.metrics[position])
        most = LARGEST_TABLE // (protocol.segments * len(metric.columns))
        for numbers in group_pairs(plan, position, most):
            pairs = [plan.pairs[number] for number in numbers]
            systems = sorted({system for pair in pairs for system in (pair.a, pair.b)})
            place = {system: place for place, system in enumerate(systems)}
            runs = [plan.systems[system] for system in systems]
            with reading(engine) as connection:
                statistics = read_statistics(connection, [each for system in runs for each in system], position)
            # What changes places as a whole is a document, or a segment.
            exchanged = statistics if protocol.documents is None else protocol.documents.added_up(statistics)
            counts[numbers] = permutation_counts(
                metric,
                exchanged,
                [(place[pair.a], place[pair.b]) for pair in pairs],
                seed=plan.seed,
                first_trial=first_trial,
                last_trial=last_trial,
                runs=[len(system) for system in runs],
            )
    return counts


def group_pairs(plan: RandomizationPlan, metric: int, most: int) -> Iterator[list[int]]:
    """The pairs with one metric, by position, in groups whose systems fit in memory.

    That is, at most `most` runs together; a single pair may have more.
    """
    numbers = [number for number, pair in enumerate(plan.pairs) if pair.metric == metric]
    used = sorted({system for number in numbers for system in (plan.pairs[number].a, plan.pairs[number].b)})
    if sum(len(plan.systems[system]) for system in used) <= most:
        yield numbers
        return
    group_of = {
        system: group for group, systems in enumerate(_groups(used, plan.systems, most // 2)) for system in systems
    }
    tiles: dict[tuple[int, int], list[int]] = {}
    for number in numbers:
        pair = plan.pairs[number]
        a, b = sorted((group_of[pair.a], group_of[pair.b]))
        tiles.setdefault((a, b), []).append(number)
    yield from tiles.values()


def _groups(systems: Sequence[int], runs: Sequence[Runs], most: int) -> list[list[int]]:
    """Consecutive systems with at most this many runs together, or a single one with more."""
    groups: list[list[int]] = []
    size = 0
    for system in systems:
        size += len(runs[system])
        if not groups or size > most:
            groups.append([])
            size = len(runs[system])
        groups[-1].append(system)
    return groups
