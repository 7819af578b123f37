"""A registered program scored by the learned worker of a command, which is killed, and whose worker is killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from models.database.session import make_engine, reading
from models.queue_status.progress import read_progress
from models.schema.learned import LearnedColumn, LearnedShard, SegmentScore
from models.schema.queue import Worker
from models.schema.results import Score
from runtime.settings import Settings
from scheduler.embedded import learned
from scheduler.embedded.processes import Embedded
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.programs.registration import RegisteredProgram, register_program
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.scheduler.jobs import one_block_shards, run_until_done, similar_text, some_text

pytestmark = [
    pytest.mark.faults,
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]

SLOW = """
BEGIN { system("sleep 0.2") }
{ match($0, /"id": "[0-9]+"/); id = substr($0, RSTART, RLENGTH); gsub(/"id": "[0-9]+"/, ""); said = length($0) }
{ print "{" id ", \\"score\\": " said "}" }
"""
SEGMENTS = 300
REFERENCE = some_text(SEGMENTS, 3)
OUTPUTS = [similar_text(REFERENCE, number) for number in (31, 32)]


@pytest.fixture
def settings(sqlite_url: str, tmp_path: Path) -> Settings:
    (tmp_path / "slow.awk").write_text(SLOW)
    command = ("awk", "-f", str(tmp_path / "slow.awk"))
    register_program(
        Resources(tmp_path / "resources"), RegisteredProgram("slow", command, ("reference",), "1", batch=32)
    )
    more = {"resource_folder": tmp_path / "resources", "silent_seconds": 2.0, "beat_seconds": 0.3, "stop_seconds": 0.2}
    return one_block_shards(sqlite_url, learned_shard_tokens=1, **more).model_copy(
        update={"concurrency": 1, "sweep_seconds": 0.2}
    )


def metrics(settings: Settings) -> list:
    context = RunContext("en", frozenset(), Resources(settings.resource_folder))
    return resolve([parse_metric("wer"), parse_metric("program:run=slow")], context)[0]


def queue(engine: Engine, settings: Settings) -> list[int]:
    return ingest_campaign(
        engine,
        settings,
        campaign="slow",
        test_set=NewTestSet("slow", {"A": REFERENCE}),
        submissions=[NewSubmission(f"system{number}", text) for number, text in enumerate(OUTPUTS)],
        protocols=[NewProtocol(["A"], metrics(settings), 10)],
    ).all_evaluations


def check(engine: Engine, settings: Settings) -> None:
    """No score differs from those of one process."""
    whole = Segments(references=[REFERENCE], hypotheses=OUTPUTS)
    (_, expected) = score_systems(whole, metrics(settings), resources=Resources(settings.resource_folder))
    with reading(engine) as connection:
        scores = select(Score.score).where(Score.metric == 1).order_by(Score.evaluation_id)
        assert list(connection.scalars(scores)) == expected.scores.tolist()
        assert set(connection.scalars(select(LearnedColumn.state))) == {"done"}


def stored(engine: Engine) -> int:
    with reading(engine) as connection:
        return len(connection.execute(select(SegmentScore.content_hash)).all())


def learned_worker(engine: Engine) -> int | None:
    with reading(engine) as connection:
        return connection.scalar(select(Worker.pid).where(Worker.queue == "learned").order_by(Worker.started_at.desc()))


def test_a_killed_worker_is_replaced_and_goes_on(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned, "RESTART_SECONDS", 0.2)
    killed: list[int] = []

    def kill(_progress: object = None) -> None:
        if not killed and stored(engine) and (pid := learned_worker(engine)):
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)

    with Embedded(settings) as embedded:
        engine = embedded.engine
        evaluations = queue(engine, settings)
        progress = embedded.run_until(lambda connection: read_progress(connection, evaluations), poll=kill)
    assert killed
    assert progress.open == 0
    engine = make_engine(settings.database_url, pooled=False)
    with reading(engine) as connection:
        assert max(connection.scalars(select(LearnedShard.attempts))) == 2
    check(engine, settings)


def test_a_command_that_is_left_keeps_what_was_scored(settings: Settings) -> None:
    engine = make_engine(settings.database_url, pooled=False)

    def leave() -> None:
        if stored(engine):
            raise KeyboardInterrupt

    def begin() -> None:
        with Embedded(settings) as embedded:
            evaluations.extend(queue(embedded.engine, settings))
            embedded.run_until(lambda connection: read_progress(connection, evaluations), poll=leave)

    evaluations: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        begin()
    before = stored(engine)
    with reading(engine) as connection:
        shards = connection.execute(select(LearnedShard.state, LearnedShard.attempts)).all()
        assert list(connection.scalars(select(Worker.id))) == []
    # Released at once, with no attempt counted.
    assert ("running", 1) not in [tuple(each) for each in shards]
    assert before > 0
    with Embedded(settings) as embedded:
        run_until_done(embedded, evaluations)
    check(engine, settings)
