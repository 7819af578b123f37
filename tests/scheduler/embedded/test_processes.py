"""The embedded default, undisturbed."""

import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select, update

from models.database.session import make_engine, reading, writing
from models.queue_status.progress import Progress
from models.results.leaderboard import read_leaderboard
from models.schema.base import now
from models.schema.queue import Shard, Worker
from models.schema.results import Score, Statistics
from models.schema.states import LeaseState
from models.storage.arrays import unpack
from runtime.settings import Settings
from scheduler.embedded import pool as embedded_pool
from scheduler.embedded import processes
from scheduler.embedded.pool import Pool
from scheduler.embedded.processes import Embedded
from scheduler.errors import StorageFailed
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.faults.cluster import REPOSITORY, Scores, children, stored_scores, until
from tests.scheduler.jobs import one_block_shards, queue_job, run_until_done, similar_text, some_text
from worker.processes.heartbeat import Heartbeat

# From Python 3.12 on; the pool of the embedded worker is forked from a thread by design.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

METRICS = ("bleu", "wer", "nist")


def run(settings: Settings, **job: object) -> tuple[list[Progress], Scores]:
    heard: list[Progress] = []
    before = multiprocessing.active_children()
    with Embedded(settings, concurrency=2) as embedded:
        queued = queue_job(embedded.engine, settings, metrics=METRICS, **job)
        last = run_until_done(embedded, queued.all_evaluations, heard.append)
        assert heard[-1] == last
        embedded.finish()
        embedded.finish()
        scores = stored_scores(embedded.engine)
    assert {*multiprocessing.active_children()} <= {*before}
    return heard, scores


def test_from_texts_to_scores(database_url: str) -> None:
    """As if scored at once, in one process and one shard, to the bit."""
    heard, _ = run(one_block_shards(database_url), segments=700, systems=3)
    assert heard[-1].done == 3
    assert heard[-1].shards == heard[-1].shards_done == 3
    reference = some_text(700, 1)
    systems = [similar_text(reference, 1000 + number) for number in range(3)]
    expected = score_systems(
        Segments(references=[reference], hypotheses=systems),
        [parse_metric(each) for each in METRICS],
        replicates=50,
        seed=12345,
    )
    engine = make_engine(database_url, pooled=False)
    with reading(engine) as connection:
        stored = connection.execute(select(Score).order_by(Score.evaluation_id, Score.metric)).all()
        assert connection.scalar(select(func.count()).select_from(Worker)) == 0
        assert {row.system for row in read_leaderboard(connection, 1)} == {"system0", "system1", "system2"}
    for row in stored:
        measured = expected[row.metric]
        system = row.evaluation_id - stored[0].evaluation_id
        assert row.score == measured.scores[system]
        assert np.array_equal(unpack(row.sums)[0], measured.sums[system])
        assert np.array_equal(unpack(row.replicate_scores)[:, 0], measured.replicate_scores[system])
        assert row.signature.startswith("nrefs:1|bs:50|seed:12345|")
        assert row.columns == list(measured.metric.columns)


def test_any_number_of_shards_gives_the_same_bits(sqlite_template: Path, tmp_path: Path) -> None:
    found: list[Scores] = []
    amounts = []
    for number, sizes in enumerate(({"shard_seconds": 100.0, "shortest_shard_seconds": 100.0}, {})):
        file = tmp_path / f"{number}.db"
        file.write_bytes(sqlite_template.read_bytes())
        settings = one_block_shards(f"sqlite:///{file}", **sizes)
        # 5,000 segments in one shard: it makes its part of the replicates itself.
        heard, scores = run(settings, segments=5000, systems=2)
        amounts.append(heard[-1].shards)
        found.append(scores)
    assert amounts == [1, 20]
    assert found[0] == found[1]


def test_one_after_the_other_in_one_process(sqlite_url: str) -> None:
    settings = Settings(database_url=sqlite_url)
    first, scores = run(settings, segments=100)
    again, same = run(settings, segments=100)
    assert same == scores
    assert first[-1].done == again[-1].done == 3
    with reading(make_engine(sqlite_url, pooled=False)) as connection:
        assert connection.scalar(select(func.count()).select_from(Shard)) == 1, "nothing is done twice"


@pytest.mark.parametrize("deaf", [(0,), (1,), (0, 1)])
def test_a_pool_process_that_does_not_end_is_killed(deaf: tuple[int, ...], sqlite_url: str) -> None:
    """As when it was never told to: neither leaving the context nor the end of the interpreter may wait for ever."""
    code = (
        "from tests.scheduler.embedded.test_processes import leave_with_deaf_processes as leave;"
        "import sys; leave(*sys.argv[1:])"
    )
    command = [sys.executable, "-c", code, sqlite_url, *map(str, deaf)]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300)
    assert (ended.returncode, ended.stdout) == (0, "left\n"), ended.stderr


def leave_with_deaf_processes(url: str, *deaf: str) -> None:
    """Do a job, suspend pool processes, and leave."""
    settings = Settings(database_url=url, stop_seconds=1.5, concurrency=2)
    with Embedded(settings) as embedded:
        job = queue_job(embedded.engine, settings, segments=100, metrics=METRICS)
        assert run_until_done(embedded, job.all_evaluations).done == 3
        pool = children(os.getpid())
        for process in (pool[int(number)] for number in deaf):
            os.kill(process, signal.SIGSTOP)
            # The signal has been sent when kill returns, but a process on the other core stops a moment later.
            until(lambda process=process: stopped(process), "the process to be stopped")
    assert not set(pool) & set(children(os.getpid()))
    print("left")


def stopped(process: int) -> bool:
    """Whether a signal has suspended it."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "tT"


def test_a_job_with_nothing_to_do_ends_at_once(sqlite_url: str) -> None:
    with Embedded(Settings(database_url=sqlite_url), concurrency=1) as embedded:
        assert run_until_done(embedded, []).open == 0


def test_who_reads_that_it_stops_may_interrupt_at_once(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def say(word: str) -> None:
        said.append(word)
        os.kill(os.getpid(), signal.SIGINT)

    # As if a task ran.
    monkeypatch.setattr(Pool, "busy", True)
    before = multiprocessing.active_children()
    embedded = Embedded(one_block_shards(sqlite_url), concurrency=1, say=say)
    with pytest.raises(KeyboardInterrupt) as interrupt, embedded:
        raise KeyboardInterrupt("the first")
    assert interrupt.value.args == ("the first",), "the second one hurries what the first one began"
    assert len(said) == 1
    assert {*multiprocessing.active_children()} <= {*before}
    engine = make_engine(sqlite_url, pooled=False)
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Worker)) == 0


@pytest.mark.parametrize("times", [1, 2])
def test_a_first_signal_lets_a_round_end_and_a_second_one_does_not(sqlite_url: str, times: int) -> None:
    begun, ended = [], []

    def look(_: object) -> SimpleNamespace:
        begun.append(1)
        for _ in range(times):
            signal.raise_signal(signal.SIGTERM)
        ended.append(1)
        return SimpleNamespace(open=1)

    with Embedded(Settings(database_url=sqlite_url), concurrency=1) as embedded, pytest.raises(SystemExit):
        embedded.run_until(look)  # type: ignore[type-var]
    assert (len(begun), len(ended)) == (1, 2 - times)


def test_an_idle_command_checks_less_often_than_a_busy_one(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rests: dict[bool, list[float]] = {False: [], True: []}
    run_pool = Pool.run

    def recorded(pool: Pool, seconds: float) -> None:
        rests[pool.busy].append(seconds)
        run_pool(pool, seconds)

    def read(_connection: object) -> SimpleNamespace:
        return SimpleNamespace(open=len(rests[False]) < 100)

    monkeypatch.setattr(Pool, "run", recorded)
    monkeypatch.setattr(processes, "LOOK_SECONDS", 0.0)
    # However fast a round was.
    monkeypatch.setattr(processes, "_rest", lambda _begun, longest: longest)
    settings = one_block_shards(sqlite_url)
    with Embedded(settings, concurrency=1) as embedded:
        embedded.run_until(read)
        assert max(rests[False]) == processes.IDLE_TICK_SECONDS
        queued = queue_job(embedded.engine, settings, metrics=METRICS)
        run_until_done(embedded, queued.all_evaluations)
    assert rests[True]
    assert max(rests[True]) <= settings.tick_seconds < processes.IDLE_TICK_SECONDS


def test_the_embedded_worker_imports_no_broker_and_no_server() -> None:
    code = "import json, sys, scheduler.embedded.shared; print(json.dumps([*sys.modules]))"
    ended = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert not {"celery", "kombu", "http.server", "scheduler.nightly.runner"} & {*json.loads(ended.stdout)}


def test_a_round_is_due_by_the_clock_too(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Schedules and leases need no change in the database to be due; and who does not lead does nothing."""
    embedded = Embedded(Settings(database_url=sqlite_url), 1)
    rounds, leads = list[int](), [True]
    monkeypatch.setattr(embedded._leadership, "held", lambda: leads[0])
    monkeypatch.setattr(embedded._leadership, "acquire", lambda: False)
    for changed, due_in, expected in ((True, 5.0, 1), (False, 0.0, 1), (True, 0.0, 1), (False, 5.0, 0)):
        loop = SimpleNamespace(
            due_in=lambda due_in=due_in: due_in, run_once=lambda: rounds.append(1), idle=True, pause_recovery=None
        )
        for leading in (True, False):
            rounds.clear()
            leads[0] = leading
            embedded._send_work(loop, changed=changed)  # type: ignore[arg-type]
            assert len(rounds) == (expected if leading else 0)
            assert embedded._status.leading == leading
    embedded._context.close()


def test_one_that_could_not_start_leaves_nothing_behind(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one would take it for a command that works."""
    settings, heard = Settings(database_url=sqlite_url), signal.getsignal(signal.SIGTERM)

    def fail(_pool: Pool) -> None:
        raise OSError("no more processes")

    before = multiprocessing.active_children()
    with monkeypatch.context() as patched:
        patched.setattr(Heartbeat, "start", fail)
        with pytest.raises(OSError, match="no more processes"), Embedded(settings, 1):
            pass
    assert signal.getsignal(signal.SIGTERM) == heard
    assert {*multiprocessing.active_children()} <= {*before}
    with Embedded(settings, 1) as embedded:
        embedded.finish()


def test_a_second_signal_hurries_a_stop_and_does_not_interrupt_it(sqlite_url: str) -> None:
    """Whatever is released then would stay with a command that is gone."""
    embedded = Embedded(Settings(database_url=sqlite_url), 1)
    before = signal.getsignal(signal.SIGTERM)
    embedded._end_on_signals()
    try:
        with pytest.raises(SystemExit) as ended:
            signal.raise_signal(signal.SIGTERM)
        assert ended.value.code == 128 + signal.SIGTERM
        assert not embedded._hurried
        embedded._stopping = True
        signal.raise_signal(signal.SIGTERM)
        assert embedded._hurried
    finally:
        for undo in reversed(embedded._undo):
            undo()
        embedded._context.close()
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("leads", [True, False])
def test_who_leads_no_more_hands_back_its_own_work_alone(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, leads: bool
) -> None:
    """The work of the new leader goes on: a second process would do it again."""
    settings = one_block_shards(sqlite_url)
    embedded = Embedded(settings, 1)
    queue_job(embedded.engine, settings, segments=256 * 4, systems=1)
    own, others = embedded._context.worker, "somebody else"
    states = [(LeaseState.RUNNING, own), (LeaseState.RUNNING, others), (LeaseState.ENQUEUED, None)]
    with writing(embedded.engine) as connection:
        keys = list(connection.scalars(select(Shard.id).order_by(Shard.id)))
        for key, (state, worker) in zip(keys, states, strict=False):
            # Rows of both were tried before.
            values = {"state": state, "worker": worker, "attempts": 2, "enqueued_at": now()}
            held = {"owner": f"owner {key}", "lease_until": now() + 600.0} if worker else {}
            connection.execute(update(Shard).where(Shard.id == key).values(**values, **held))
    monkeypatch.setattr(embedded, "_renew", lambda: leads)
    embedded._release_all()
    with reading(embedded.engine) as connection:
        rows = connection.execute(select(Shard).order_by(Shard.id)).all()
    pending, running, sent = LeaseState.PENDING, LeaseState.RUNNING, LeaseState.ENQUEUED
    expected = [(pending, 1), (pending, 1), (pending, 2)] if leads else [(pending, 1), (running, 2), (sent, 2)]
    assert [(row.state, row.attempts) for row in rows[:3]] == expected
    assert [row.owner for row in rows[:3]] == [None, None if leads else f"owner {keys[1]}", None]
    embedded._context.close()


def test_a_disk_that_is_full_for_the_tasks_alone_ends_the_work_with_a_reason(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the processes of the pool store results; whoever waits is told, and the next one goes on from there."""
    settings = one_block_shards(sqlite_url)
    begin = embedded_pool.begin
    # Servers of other tests are among them.
    others = set(children(os.getpid()))

    def begin_on_a_full_disk(*given: Any) -> None:
        begin(*given)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    with monkeypatch.context() as patched, Embedded(settings, 1) as embedded:
        queued = queue_job(embedded.engine, settings, metrics=METRICS)
        patched.setattr(embedded_pool, "begin", begin_on_a_full_disk)
        for process in set(children(os.getpid())) - others:
            os.kill(process, signal.SIGKILL)
        with pytest.raises(StorageFailed, match=r"cannot be used: .* See that the disk has space"):
            run_until_done(embedded, queued.all_evaluations)
    with reading(make_engine(sqlite_url, pooled=False)) as connection:
        assert {*connection.scalars(select(Shard.state))} == {LeaseState.PENDING}
        for table in (Statistics, Score):
            assert connection.scalar(select(func.count()).select_from(table)) == 0
    with Embedded(settings, 1) as embedded:
        assert run_until_done(embedded, queued.all_evaluations).done == 3
