"""One scheduler at a time."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from sqlalchemy import event, insert, select, update
from sqlalchemy.exc import OperationalError

from models.database.session import make_engine, reading, writing
from models.queue.leader import acquire_leadership, read_leader, release_leadership
from models.queue.sweep import resend_stale
from models.schema.queue import Leader, Shard, Worker
from models.schema.states import LeaseState
from runtime.settings import Settings
from scheduler import leader, loop
from scheduler.dispatch import dispatch
from scheduler.embedded.processes import Embedded
from scheduler.errors import AlreadyRunning
from scheduler.leader import Leadership, has_leader
from steelyard.metrics.metric import EDITION
from tests.databases import WATCHING
from tests.faults.cluster import until
from tests.scheduler.jobs import one_block_shards, queue_job

TERM = 1.0

HOLD = """
import sys, time
from scheduler.leader import Leadership
lead = Leadership(sys.argv[1], float(sys.argv[2]))
print(lead.acquire(), flush=True)
while lead.held():
    time.sleep(0.01)
print("lost", flush=True)
sys.stdin.read()
"""


def hold_elsewhere(url: str, term: float = 60.0) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, url, str(term)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    return process


@contextmanager
def looping(url: str) -> Iterator[None]:
    """The scheduler's loop runs in a thread, and has ended in the end."""
    # Of a broker that nothing is sent to.
    settings = Settings(database_url=url, broker_url="redis://localhost/0", sweep_seconds=0.05, tick_seconds=0.01)
    stop = threading.Event()
    thread = threading.Thread(target=loop.run, args=(settings, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(60)
    assert not thread.is_alive()


def led(url: str) -> bool:
    with reading(make_engine(url, pooled=False)) as connection:
        return has_leader(connection, 60.0)


def test_whether_somebody_leads_can_be_seen_without_taking_the_lead(database_url: str) -> None:
    assert led(database_url) is False
    other = hold_elsewhere(database_url)
    assert led(database_url) is True
    assert led(database_url) is True
    other.kill()
    other.communicate()
    assert led(database_url) is False, "its process is gone, and nobody waits for the end of its term"


def test_a_second_one_waits_until_the_first_is_dead(database_url: str) -> None:
    """Though its term is a minute long, when it is seen that its process has ended."""
    other = hold_elsewhere(database_url)
    lead = Leadership(database_url, 60.0)
    assert not lead.acquire()
    assert not lead.held()
    assert not lead.in_term()
    other.kill()
    other.communicate()
    assert lead.acquire()
    assert lead.held()
    assert lead.in_term()
    lead.release()
    assert not lead.held()
    assert Leadership(database_url, 60.0).acquire()


@pytest.mark.parametrize(("system", "free"), [("elsewhere", False), ("", False), (leader._system(), True)])
def test_of_another_machine_no_process_is_taken_for_dead(sqlite_url: str, system: str, free: bool) -> None:
    """Its number is that of no process here, and says nothing."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with writing(make_engine(sqlite_url)) as connection:
        assert acquire_leadership(connection, f"{system}:{ended.pid}:one", 60.0)
    assert Leadership(sqlite_url, 60.0).acquire() is free


def test_one_that_was_replaced_does_not_end_the_term_of_the_other(sqlite_url: str) -> None:
    with writing(make_engine(sqlite_url)) as connection:
        assert acquire_leadership(connection, "now", 60.0)
        release_leadership(connection, "before")
        assert read_leader(connection, 60.0) == "now"
        release_leadership(connection, "now")
        assert read_leader(connection, 60.0) is None


def test_one_that_has_vanished_is_replaced_when_its_term_expires(database_url: str) -> None:
    """On a machine of which nothing more is heard."""
    with writing(make_engine(database_url, pooled=False)) as connection:
        assert acquire_leadership(connection, "another system:1:0", TERM)
    lead = Leadership(database_url, TERM)
    assert not lead.acquire()
    until(lead.acquire, "the end of the term")
    with reading(make_engine(database_url, pooled=False)) as connection:
        assert "another system" not in str(read_leader(connection, TERM))


def test_one_that_is_frozen_is_replaced_and_finds_out_when_it_wakes_up(database_url: str) -> None:
    other = hold_elsewhere(database_url, TERM)
    lead = Leadership(database_url, TERM)

    def frozen() -> bool:
        """It is stopped, and not in the middle of renewing its term: it would hold a lock of SQLite."""
        other.send_signal(signal.SIGSTOP)
        until(lambda: stopped(other.pid), "it to stop")
        try:
            with writing(make_engine(f"{database_url}?timeout=0" if "sqlite" in database_url else database_url)):
                return True
        except OperationalError:
            other.send_signal(signal.SIGCONT)
            return False

    until(frozen, "it to be stopped")
    assert not lead.acquire(), "its term was over before"
    until(lead.acquire, "the end of its term")
    assert led(database_url)
    stop = threading.Event()
    keeping = threading.Thread(target=lambda: all(lead.held() for _ in iter(lambda: stop.wait(0.01), True)))
    keeping.start()
    other.send_signal(signal.SIGCONT)
    assert other.stdout is not None
    assert other.stdout.readline() == "lost\n"
    assert lead.in_term()
    stop.set()
    keeping.join()
    other.kill()
    other.communicate()


def stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_a_term_goes_on_while_it_is_renewed(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two thirds of a term after it was asked for at the latest; and once it is over it must be asked for anew."""
    moment = 1000.0
    monkeypatch.setattr(leader, "_clock", lambda: moment)
    lead, asked = Leadership(database_url, TERM), []
    with monkeypatch.context() as patched:
        real = acquire_leadership
        patched.setattr(
            leader, "acquire_leadership", lambda *given, **more: asked.append(moment) or real(*given, **more)
        )
        assert lead.acquire()
        for moment in (1000.2, 1000.4, 1000.6, 1000.8, 1001.0):  # noqa: B007 - the clock shows it
            assert lead.held()
        assert asked == [1000.0, 1000.4, 1000.8]
        moment = 1001.79
        assert lead.in_term()
        moment = 1001.81
        assert not lead.in_term()
        assert not lead.held()
        assert asked == [1000.0, 1000.4, 1000.8]
        assert lead.acquire()
        assert lead.held()


def test_a_term_counts_from_before_it_was_asked_for(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waited for the database must not believe in it for longer than the others do."""
    moment = 1000.0

    def acquire_slowly(*given: Any, **more: Any) -> bool:
        nonlocal moment
        moment = 1000.5
        return acquire_leadership(*given, **more)

    monkeypatch.setattr(leader, "_clock", lambda: moment)
    monkeypatch.setattr(leader, "acquire_leadership", acquire_slowly)
    lead = Leadership(sqlite_url, TERM)
    assert lead.acquire()
    moment = 1000.99
    assert lead.in_term()
    moment = 1001.01
    assert not lead.in_term()


def test_renewals_need_one_connection_once_processes_are_forked(sqlite_url: str) -> None:
    """SQLite reads all definitions of tables whenever a connection is opened."""
    lead, opened = Leadership(sqlite_url, TERM), []
    assert lead.acquire()
    lead.keep_connection()
    event.listen(lead._engine, "connect", lambda *_: opened.append(1))
    assert all(lead.acquire() for _ in range(3))
    assert len(opened) == 1
    lead.release()
    assert Leadership(sqlite_url, TERM).acquire()


def test_a_clock_that_is_set_back_leaves_the_lead_with_nobody_for_long(database_url: str) -> None:
    engine = make_engine(database_url, pooled=False)
    with writing(engine) as connection:
        assert acquire_leadership(connection, "another system:1:0", TERM)
        connection.execute(update(Leader).values(expires_at=Leader.expires_at + 3600))
        assert read_leader(connection, TERM) is None
    assert Leadership(database_url, TERM).acquire()


def test_a_leader_whose_term_is_over_sends_nothing(database_url: str) -> None:
    """Also when it was stopped between marking rows and sending, or in the middle of that: others send them again."""
    engine, settings = make_engine(database_url), one_block_shards(database_url)
    queue_job(engine, settings, segments=600)
    with writing(engine) as connection:
        connection.execute(insert(Worker).values(id="w", host="h", pid=1, version="1", concurrency=2, edition=EDITION))
    sent: list[int] = []
    app = SimpleNamespace(send=lambda message: sent.extend(message.keys))
    # It wakes up after the first message.
    assert dispatch(engine, app, settings, leads=lambda: not sent) == 1
    assert len(sent) == 1
    with reading(engine) as connection:
        marked = list(connection.scalars(select(Shard.id).where(Shard.state == LeaseState.ENQUEUED)))
    assert len(marked) > 1, "there was nothing left to send"
    with writing(engine) as connection:
        assert resend_stale(connection, -1.0) == len(marked)
    assert dispatch(engine, app, settings) == len(marked)
    assert sorted(sent[1:]) == sorted(marked)
    engine.dispose()


def test_a_cut_connection_costs_no_leadership(postgres_url: str) -> None:
    lead = Leadership(postgres_url, 60.0)
    assert lead.acquire()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert lead.held()
    assert not Leadership(postgres_url, 60.0).acquire()
    lead.release()


def test_the_loop_outlives_its_connections(postgres_url: str) -> None:
    with looping(postgres_url):
        until(lambda: led(postgres_url), "the loop to lead")
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            cut = connection.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> %s",
                (WATCHING,),
            ).fetchone()
            assert cut is not None
            assert cut[0] >= 1, "there was no connection to cut"
            connection.execute("UPDATE leader SET expires_at = 0")
        until(lambda: led(postgres_url), "the loop to lead again")


@pytest.mark.parametrize(("round_seconds", "rest"), [(0.001, 0.02), (0.03, 0.03), (0.08, 0.08), (0.5, 0.1)])
def test_the_loop_rests_as_long_as_a_round_took(
    monkeypatch: pytest.MonkeyPatch, round_seconds: float, rest: float
) -> None:
    """Many changes share a round where rounds take long; but whoever submits something does not wait long for it."""
    clock, rests, stop = [100.0], list[float](), threading.Event()

    def run_once() -> None:
        clock[0] += round_seconds

    def wait(seconds: float) -> None:
        rests.append(seconds)
        if len(rests) == 3:
            stop.set()

    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(stop, "wait", wait)
    loop._lead(
        SimpleNamespace(run_once=run_once, due_in=lambda: 1.0),  # type: ignore[arg-type]
        SimpleNamespace(held=lambda: True, due_in=lambda: 1.0),  # type: ignore[arg-type]
        SimpleNamespace(wait=lambda *_: True),  # type: ignore[arg-type]
        Settings(tick_seconds=0.02),
        stop,
    )
    assert rests == pytest.approx([rest] * 3)


def test_no_embedded_worker_beside_another_scheduler(sqlite_url: str) -> None:
    other = hold_elsewhere(sqlite_url)
    with pytest.raises(AlreadyRunning, match="Another process"), Embedded(Settings(database_url=sqlite_url)):
        pass
    other.kill()
    other.communicate()


def test_the_loop_ends_when_asked_to(database_url: str) -> None:
    with looping(database_url):
        until(lambda: led(database_url), "the loop to lead")
    assert not led(database_url)
    assert Leadership(database_url, 60.0).acquire()


def test_an_embedded_command_keeps_the_leadership_that_it_got_back(postgres_url: str) -> None:
    """Also when the scheduler rests for a while and looks at nothing."""

    class Resting:
        went, idle = 0, True

        def run_once(self) -> bool:
            self.went += 1
            return False

    embedded = Embedded(Settings(database_url=postgres_url, sweep_seconds=0.001))
    rounds = Resting()
    for _ in range(5):
        time.sleep(0.002)
        embedded._send_work(rounds, changed=True)
    assert rounds.went == 5
    assert led(postgres_url)
    embedded._leadership.release()
