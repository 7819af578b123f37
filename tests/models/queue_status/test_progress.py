"""How far evaluations are: what counts, and why some have failed."""

from sqlalchemy import select, update

from models.database.session import make_engine, reading, writing
from models.queue_status.progress import failure_reasons, read_progress
from models.schema.queue import Evaluation, Shard, ShardEvaluation
from models.schema.states import EvaluationState, LeaseState
from tests.scheduler.jobs import one_block_shards, queue_job


def test_only_what_was_asked_for_counts_and_of_its_shards_what_still_matters(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    settings = one_block_shards(sqlite_url)
    ours = queue_job(engine, settings, segments=256 * len(LeaseState), systems=1).all_evaluations
    queue_job(engine, settings, segments=300, systems=2, campaign="other")
    with writing(engine) as connection:
        theirs = select(ShardEvaluation.shard_id).where(ShardEvaluation.evaluation_id.in_(ours))
        shards = connection.scalars(select(Shard.id).where(Shard.id.in_(theirs)).order_by(Shard.id)).all()
        for shard, state in zip(shards, LeaseState, strict=True):
            connection.execute(update(Shard).where(Shard.id == shard).values(state=state))
    with reading(engine) as connection:
        progress = read_progress(connection, ours)
    assert (progress.queued, progress.open, progress.done) == (1, 1, 0)
    assert (progress.shards, progress.shards_done) == (len(LeaseState) - 2, 1), "failed and cancelled ones are replaced"


def test_why_some_have_failed_each_reason_once(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    evaluations = queue_job(engine, one_block_shards(sqlite_url), systems=6).all_evaluations
    said = [("failed", "b"), ("failed", "a"), ("failed", "a"), ("failed", None), ("cancelled", "c"), ("failed", "d")]
    with writing(engine) as connection:
        for evaluation, (state, reason) in zip(evaluations, said, strict=True):
            changed = update(Evaluation).where(Evaluation.id == evaluation)
            connection.execute(changed.values(state=EvaluationState(state), reason=reason))
    with reading(engine) as connection:
        assert failure_reasons(connection, evaluations[:5]) == ["b", "a"]
