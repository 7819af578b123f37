"""How many submissions are before one, and what they cost: as counted one by one."""

import itertools
import random
import sys
from types import FrameType
from typing import Any

import pytest
from sqlalchemy import Engine, insert, select, update

from models.database.session import make_engine, reading, writing
from models.queue_status import submission_progress as module
from models.queue_status.submission_progress import read_submission_progress
from models.schema.corpus import Protocol
from models.schema.queue import Evaluation, Shard, ShardEvaluation, Worker
from models.schema.states import EvaluationState, QueueClass
from tests.scheduler.jobs import one_block_shards, queue_job


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    return make_engine(sqlite_url)


@pytest.mark.parametrize("seed", range(5))
def test_all_that_is_before_is_counted_once(engine: Engine, sqlite_url: str, seed: int) -> None:
    draw = random.Random(seed)
    settings = one_block_shards(sqlite_url)
    for number, metric in itertools.product(range(3), ["bleu", "chrf"]):
        queue_job(engine, settings, segments=300, systems=6, seed=number, campaign=f"{number % 2}", metrics=[metric])
    with writing(engine) as connection:
        connection.execute(insert(Worker).values(id="w", host="h", pid=1, version="1", concurrency=3))
        # Each submission has two, which may wait in different classes.
        evaluations = connection.scalars(select(Evaluation.id)).all()
        for evaluation in evaluations:
            values = {"queue_class": draw.choice(list(QueueClass)), "state": draw.choice(["queued", "running", "done"])}
            values["started_at"] = draw.choice([None, 1.0, 2.0])
            connection.execute(update(Evaluation).where(Evaluation.id == evaluation).values(**values))
        for shard in connection.scalars(select(Shard.id)).all():
            values = {"queue_class": draw.choice(list(QueueClass)), "cost": draw.randint(1, 9)}
            values["state"] = draw.choice(["pending", "enqueued", "running", "done"])
            # Those of other metrics may be cut in another way.
            values["first_block"], values["last_block"] = draw.choice([(0, 1), (1, 2), (0, 2)])
            connection.execute(update(Shard).where(Shard.id == shard).values(**values))
    with reading(engine) as connection:
        rows = connection.execute(select(Evaluation)).all()
        shards = connection.execute(select(Shard)).all()
        members = connection.execute(select(ShardEvaluation.shard_id, ShardEvaluation.evaluation_id)).all()
        progress = read_submission_progress(connection, sorted({row.submission_id for row in rows}), 1e9)
    waits = [row for row in rows if row.state != EvaluationState.DONE]
    open_blocks = {row.id: range(row.first_block, row.last_block) for row in shards if row.state != "done"}
    for submission, each in progress.items():
        measured = 0
        for row in (row for row in rows if row.submission_id == submission and row.started_at is not None):
            left = {
                block for shard, evaluation in members if evaluation == row.id for block in open_blocks.get(shard, ())
            }
            measured += 256 * (0 not in left) + 44 * (1 not in left)
        assert (each.segments, each.segments_done) == (600, measured)
        mine = [row for row in waits if row.submission_id == submission]
        if not mine:
            assert each.ahead is each.seconds_left is None
            continue
        queue_class, first = min(row.queue_class for row in mine), min(row.id for row in mine)
        others = {row.submission_id for row in waits if row.queue_class <= queue_class and row.id < first}
        assert each.ahead == len(others - {submission})
        its = {row.id for row in rows if row.submission_id == submission}
        last = max(shard for shard, evaluation in members if evaluation in its)
        before = [row for row in shards if row.state != "done" and row.queue_class <= queue_class and row.id <= last]
        assert each.seconds_left == pytest.approx(sum(row.cost for row in before) / 3)


def test_parameter_sweeps_are_no_part_of_a_submissions_progress(engine: Engine, sqlite_url: str) -> None:
    """Whoever tunes a metric measures what others have submitted, on protocols of his own."""
    settings = one_block_shards(sqlite_url)
    (protocol,) = queue_job(engine, settings, segments=300, systems=1).protocols
    (sweep,) = queue_job(engine, settings, segments=300, systems=1, metrics=["chrf"]).protocols
    first, second = Evaluation.protocol_id == protocol, Evaluation.protocol_id == sweep
    with writing(engine) as connection:
        connection.execute(update(Protocol).where(Protocol.id == sweep).values(sweep=True))
        connection.execute(update(Shard).where(Shard.protocol_id == protocol).values(state="done"))
        connection.execute(update(Evaluation).where(first).values(state="done", started_at=1.0))
        [submission] = set(connection.scalars(select(Evaluation.submission_id)))
    for state in ("queued", "running", "failed", "cancelled"):
        with writing(engine) as connection:
            connection.execute(update(Evaluation).where(second).values(state=state, started_at=2.0))
        with reading(engine) as connection:
            progress = read_submission_progress(connection, [submission], 1e9)[submission]
        assert (progress.state, progress.segments, progress.segments_done) == (EvaluationState.DONE, 300, 300)
        assert progress.ended
        assert progress.ahead is progress.seconds_left is None
    with writing(engine) as connection:
        connection.execute(update(Evaluation).where(first).values(state="running"))
        connection.execute(update(Evaluation).where(second).values(state="done"))
    with reading(engine) as connection:
        progress = read_submission_progress(connection, [submission], 1e9)[submission]
    assert (progress.state, progress.segments) == (EvaluationState.RUNNING, 300)


def test_many_who_watch_cost_little_more_than_one(engine: Engine, sqlite_url: str) -> None:
    settings = one_block_shards(sqlite_url)
    queue_job(engine, settings, segments=300, systems=60)
    with writing(engine) as connection:
        connection.execute(insert(Worker).values(id="w", host="h", pid=1, version="1", concurrency=3))
        submissions = connection.scalars(select(Evaluation.submission_id)).all()
        protocol = connection.scalars(select(Evaluation.protocol_id)).first()
        shard = {"protocol_id": protocol, "first_block": 0, "last_block": 1, "cost": 1.0}
        connection.execute(insert(Shard), [shard] * 1_000)

    def steps(watched: int) -> int:
        """Of this module's Python."""
        taken = 0

        def step(frame: FrameType, _what: str, _argument: object) -> Any:
            nonlocal taken
            if frame.f_code.co_filename != module.__file__:
                return None
            taken += 1
            return step

        with reading(engine) as connection:
            before = sys.gettrace()
            sys.settrace(step)
            try:
                read_submission_progress(connection, submissions[:watched], 1e9)
            finally:
                sys.settrace(before)
        return taken

    one, many = steps(1), steps(51)
    assert one > 1_000, "all open shards are looked at"
    assert many < one + 50 * 100, "far fewer than there are open shards for each more that is watched"
