"""Shards of learned metrics whose evaluations are computed again while they run."""

from __future__ import annotations

from sqlalchemy import select

from models.database.session import reading, writing
from models.schema.learned import LearnedShard
from models.schema.states import LeaseState
from scheduler.admin import recompute
from scheduler.ingest.campaigns import IngestResult
from tests.worker.learned.test_life_cycle import claim, columns, finish, shards, statistics
from tests.worker.learned.test_life_cycle import context as context
from tests.worker.learned.test_life_cycle import job as job
from worker.context import WorkerContext


def test_a_shard_that_ends_after_its_evaluation_was_reset_counts_for_the_others_alone(
    context: WorkerContext, job: IngestResult
) -> None:
    """The column would have scores before all of its segments do, or old ones."""
    again, *others = job.all_evaluations
    with writing(context.engine) as connection:
        running, waiting = shards(connection, 1)
        late = claim(connection, running)
        assert late is not None
        assert late.evaluations == tuple(job.all_evaluations)
    assert recompute(context.engine, context.settings, [again]).evaluations == (again,)
    with writing(context.engine) as connection:
        before = {each: statistics(connection, each, 1) for each in job.all_evaluations}
        finish(connection, late)
        assert columns(connection, 1) == [("waiting", 2), ("waiting", 1), ("waiting", 1)]
        changed = [each for each in before if statistics(connection, each, 1) != before[each]]
        assert changed == others
        # Nor does one that had not begun.
        next_one = claim(connection, waiting, "p")
        assert next_one is not None
        assert next_one.evaluations == tuple(others)
        finish(connection, next_one)
        assert columns(connection, 1) == [("waiting", 2), ("waiting", 0), ("waiting", 0)]
        assert statistics(connection, again, 1) == before[again]


def test_a_shard_of_no_evaluation_but_one_that_was_reset_is_not_begun(
    context: WorkerContext, job: IngestResult
) -> None:
    with reading(context.engine) as connection:
        old = shards(connection, 1) + shards(connection, 2)
    again = recompute(context.engine, context.settings, job.all_evaluations)
    assert again.evaluations == tuple(job.all_evaluations)
    with writing(context.engine) as connection:
        for key in old:
            state = connection.scalar(select(LearnedShard.state).where(LearnedShard.id == key))
            if state == LeaseState.PENDING:
                assert claim(connection, key, f"o{key}") is None
        assert columns(connection, 1) == columns(connection, 2) == [("waiting", 2)] * 3
