"""The randomization tests of a nightly run, and their p-values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from analysis.nightly.baselines import read_run_history
from analysis.nightly.entries import read_score_entries
from models.corpus.protocols import read_protocol
from models.nightly.runs import read_nightly_run
from models.nightly.schedules import read_schedule
from models.results.randomizations import PairTests, read_randomizations
from models.results.statistics import read_statistics
from models.schema.states import PairedTest
from steelyard.metrics.registry import parse_metric
from steelyard.resampling.randomization import TRIALS, permutation_counts, randomization_p

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    from analysis.nightly.regression import BaselineScore, ScoreEntry
    from models.results.randomizations import Runs


def required_tests(connection: Connection, nightly_run_id: int) -> list[PairTests]:
    """The tests that judging a run needs, stored or not; none if it is judged by the bootstrap.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    nightly_run = read_nightly_run(connection, nightly_run_id)
    schedule = read_schedule(connection, nightly_run.schedule_id)
    if schedule.test != PairedTest.RANDOMIZATION:
        return []
    of_metric: dict[tuple[int, int], set[tuple[Runs, Runs]]] = {}
    for entry in read_score_entries(connection, schedule, read_run_history(connection, nightly_run)):
        if (rival := _to_test(entry)) is not None:
            of_metric.setdefault((entry.protocol_id, entry.metric), set()).add(_pair(entry, rival))
    return [
        PairTests(protocol, sorted(pairs), (metric,), schedule.seed)
        for (protocol, metric), pairs in sorted(of_metric.items())
    ]


def randomization_of(
    connection: Connection, entries: Sequence[ScoreEntry], seed: int
) -> Callable[[ScoreEntry, BaselineScore], float]:
    """A function for the p-value of an entry's test against its best rival: the stored one, else computed on demand."""
    sides: dict[tuple[int, int], set[Runs]] = {}
    for entry in entries:
        if (rival := _to_test(entry)) is not None:
            sides.setdefault((entry.protocol_id, entry.metric), set()).update(_pair(entry, rival))
    stored = {
        key: read_randomizations(connection, sorted(systems), key[1], trials=TRIALS, seed=seed)
        for key, systems in sides.items()
    }

    def p_of(entry: ScoreEntry, rival: BaselineScore) -> float:
        pair = _pair(entry, rival)
        test = stored.get((entry.protocol_id, entry.metric), {}).get(pair)
        if test is not None:
            return randomization_p(test.as_large, TRIALS)
        if entry.score.score is None or rival.score.score is None:
            return math.nan
        statistics = read_statistics(connection, [each for runs in pair for each in runs], entry.metric)
        documents = read_protocol(connection, entry.protocol_id).documents
        if documents is not None:
            statistics = documents.added_up(statistics)
        metric = parse_metric(entry.score.specification)
        counts = permutation_counts(metric, statistics, [(0, 1)], seed=seed, first_trial=0, last_trial=TRIALS)
        return randomization_p(int(counts[0]), TRIALS)

    return p_of


def _to_test(entry: ScoreEntry) -> BaselineScore | None:
    rival = entry.best
    if rival is None or rival.same_output or rival.itself or entry.score.score is None:
        return None
    return rival


def _pair(entry: ScoreEntry, rival: BaselineScore) -> tuple[Runs, Runs]:
    first, second = sorted((entry.evaluation_id, rival.candidate.evaluation_id))
    return (first,), (second,)
