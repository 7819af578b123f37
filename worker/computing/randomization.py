"""Trials of paired randomization tests, made from stored statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine

from metrics.resampling.randomization import exceedances
from models.corpus.protocols import read_protocol
from models.database.session import reading
from models.results.randomizations import RandomizationPlan, Runs
from models.results.statistics import read_statistics
from worker.computing.scoring import cached_metric

LARGEST_TABLE = 1 << 24
"""Statistics (float64) of systems that are held in memory at once."""


def count_trials(engine: Engine, contest: RandomizationPlan, first_trial: int, last_trial: int) -> NDArray[np.int64]:
    """How many of some trials are at least as large as the difference of each pair of a contest, (pairs,).

    -1 where a score is undefined. The counts of several runs of trials are to be added.
    """
    with reading(engine) as connection:
        measurement = read_protocol(connection, contest.protocol_id)
    counts = np.zeros(len(contest.pairs), np.int64)
    for position in sorted({pair.metric for pair in contest.pairs}):
        metric = cached_metric(measurement.metrics[position])
        most = LARGEST_TABLE // (measurement.segments * len(metric.columns))
        for numbers in group_pairs(contest, position, most):
            pairs = [contest.pairs[number] for number in numbers]
            systems = sorted({system for pair in pairs for system in (pair.a, pair.b)})
            place = {system: place for place, system in enumerate(systems)}
            runs = [contest.systems[system] for system in systems]
            with reading(engine) as connection:
                statistics = read_statistics(connection, [each for system in runs for each in system], position)
            counts[numbers] = exceedances(
                metric,
                statistics,
                [(place[pair.a], place[pair.b]) for pair in pairs],
                seed=contest.seed,
                first_trial=first_trial,
                last_trial=last_trial,
                runs=[len(system) for system in runs],
            )
    return counts


def group_pairs(contest: RandomizationPlan, metric: int, most: int) -> Iterator[list[int]]:
    """The pairs of a contest by one metric, by their numbers: each time so many that their systems fit in memory.

    That is when they have `most` runs together; two systems of more are taken none the less.
    """
    numbers = [number for number, pair in enumerate(contest.pairs) if pair.metric == metric]
    used = sorted({system for number in numbers for system in (contest.pairs[number].a, contest.pairs[number].b)})
    if sum(len(contest.systems[system]) for system in used) <= most:
        yield numbers
        return
    group_of = {
        system: group for group, systems in enumerate(_groups(used, contest.systems, most // 2)) for system in systems
    }
    tiles: dict[tuple[int, int], list[int]] = {}
    for number in numbers:
        pair = contest.pairs[number]
        a, b = sorted((group_of[pair.a], group_of[pair.b]))
        tiles.setdefault((a, b), []).append(number)
    yield from tiles.values()


def _groups(systems: Sequence[int], runs: Sequence[Runs], most: int) -> list[list[int]]:
    """Neighbouring systems that have at most so many runs together, or a single one that has more."""
    groups: list[list[int]] = []
    size = 0
    for system in systems:
        size += len(runs[system])
        if not groups or size > most:
            groups.append([])
            size = len(runs[system])
        groups[-1].append(system)
    return groups
