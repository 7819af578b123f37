"""One scheduler at a time."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from models.session import make_engine, reading
from scheduler import loop
from scheduler.embedded import Embedded
from scheduler.errors import AlreadyRunning
from scheduler.leader import is_led, leadership
from tests.faults.cluster import until
from worker.settings import Settings

HOLD = """
import sys
from scheduler.leader import leadership
lead = leadership(sys.argv[1])
print(lead.acquire(), flush=True)
sys.stdin.read()
"""


def hold_elsewhere(url: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, url],
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
    settings = Settings(database_url=url, sweep_seconds=0.05, tick_seconds=0.01)
    stop = threading.Event()
    thread = threading.Thread(target=loop.run, args=(settings, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(60)
    assert not thread.is_alive()


def somebody_leads(url: str) -> bool:
    """Whether the leadership cannot be had; only for PostgreSQL, where locks are those of connections."""
    other = leadership(url)
    acquired = other.acquire()
    other.release()
    return not acquired


def led(url: str) -> bool | None:
    with reading(make_engine(url, pooled=False)) as connection:
        return is_led(connection, url)


def test_whether_somebody_leads_can_be_seen_without_taking_the_lead(database_url: str) -> None:
    assert led(database_url) is False
    other = hold_elsewhere(database_url)
    assert led(database_url) is True
    assert led(database_url) is True
    other.kill()
    other.communicate()
    until(lambda: led(database_url) is False, "the end of its lead")


def test_a_second_one_waits_until_the_first_is_dead(database_url: str) -> None:
    other = hold_elsewhere(database_url)
    lead = leadership(database_url)
    assert not lead.acquire()
    assert not lead.held()
    other.kill()
    other.communicate()
    # PostgreSQL takes a moment to see that somebody has gone.
    until(lead.acquire, "the leadership")
    assert lead.held()
    lead.release()
    assert not lead.held()
    until(leadership(database_url).acquire, "the leadership for another")


def test_a_cut_connection_costs_the_leadership(postgres_url: str) -> None:
    lead = leadership(postgres_url)
    assert lead.acquire()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    until(lambda: not lead.held(), "the end of the connection")
    until(lead.acquire, "the leadership")
    lead.release()


def test_the_loop_outlives_its_connections(postgres_url: str) -> None:
    with looping(postgres_url):
        until(lambda: somebody_leads(postgres_url), "the loop to lead")
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            cut = connection.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            ).fetchone()
        assert cut is not None
        assert cut[0] >= 1, "there was no connection to cut"
        until(lambda: somebody_leads(postgres_url), "the loop to lead again")


def test_no_embedded_worker_beside_another_scheduler(sqlite_url: str) -> None:
    other = hold_elsewhere(sqlite_url)
    with pytest.raises(AlreadyRunning, match="Another process"), Embedded(Settings(database_url=sqlite_url)):
        pass
    other.kill()
    other.communicate()


def test_the_loop_ends_when_told_to(database_url: str) -> None:
    with looping(database_url):
        if database_url.startswith("postgres"):
            until(lambda: somebody_leads(database_url), "the loop to lead")
    lead = leadership(database_url)
    until(lead.acquire, "the leadership")
    lead.release()


def test_an_embedded_command_keeps_the_leadership_that_it_got_back(postgres_url: str) -> None:
    """Also when the scheduler rests for a while and looks at nothing."""

    class Resting:
        went = 0

        def go(self) -> bool:
            self.went += 1
            return False

    embedded = Embedded(Settings(database_url=postgres_url, sweep_seconds=0.001))
    rounds = Resting()
    for _ in range(5):
        time.sleep(0.002)
        embedded._hand_out(rounds)
    assert rounds.went == 5
    assert somebody_leads(postgres_url)
    embedded._leadership.release()
