"""Whether a process is ready, with reasons, and the server that tells it."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection

import pytest
from sqlalchemy import insert, text

from models.database.session import make_engine, writing
from models.schema.base import now
from models.schema.queue import Worker
from runtime.errors import AddressTaken
from runtime.health import Check, Health, Liveness, ProcessStatus
from runtime.http_server import IDLE_SECONDS, MOST_REQUESTS, HealthServer
from runtime.settings import Settings
from tests.servers import free_port
from worker.app import Broker
from worker.health_checks import check_broker, check_database, check_workers


def test_a_pulse_tells_rounds_from_success(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("runtime.health.time.monotonic", lambda: clock[0])
    pulse = Liveness("round")
    assert not pulse.alive().ok
    pulse.failed("no way to postgresql://me:hunter2@db/x")
    assert pulse.alive().ok
    never = pulse.succeeds(10)
    assert (never.ok, never.reason) == (False, "none yet. no way to postgresql://me:***@db/x")
    pulse.done()
    assert pulse.succeeds(10).ok
    clock[0] += 11
    assert not pulse.succeeds(10).ok
    pulse.failed("away")
    assert (pulse.succeeds(10).ok, pulse.alive().ok) == (False, True)
    assert pulse.succeeds(10).reason == "11.0 s ago, at most 10 s are well; away"
    clock[0] += 121
    assert not pulse.alive().ok


def test_a_database_is_there_and_has_our_tables(database_url: str) -> None:
    assert check_database(database_url).ok
    with writing(make_engine(database_url, pooled=False)) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '20250101'"))
    old = check_database(database_url)
    assert (old.ok, old.reason) == (False, "its tables are 20250101: run `steelyard db upgrade`")


def test_what_is_away_is_said_without_its_password(tmp_path) -> None:  # type: ignore[no-untyped-def]
    port = free_port()
    database = check_database(f"postgresql://me:hunter2@127.0.0.1:{port}/x")
    assert not database.ok
    assert "refused" in database.reason
    empty = check_database(f"sqlite:///{tmp_path / 'empty.db'}")
    assert "not there" in empty.reason
    settings = Settings(broker_url=f"redis://:hunter2@127.0.0.1:{port}/0")
    broker = check_broker(Broker(settings))
    assert not broker.ok
    assert "hunter2" not in database.reason + broker.reason


def test_a_broker_that_answers(redis_url: str) -> None:
    settings = Settings(broker_url=redis_url)
    assert check_broker(Broker(settings)) == Check("broker", True, "reachable, waiting messages: 0")


def test_workers_of_a_host(sqlite_url: str) -> None:
    settings = Settings(database_url=sqlite_url)
    assert not check_workers(settings, "here").ok
    row = {"host": "here", "pid": 7, "version": "1", "concurrency": 1}
    with writing(make_engine(sqlite_url, pooled=False)) as connection:
        connection.execute(insert(Worker).values(**row, id="dead", beat_at=now() - 100))
        connection.execute(insert(Worker).values(**{**row, "host": "there"}, id="other", beat_at=now()))
    assert not check_workers(settings, "here").ok
    with writing(make_engine(sqlite_url, pooled=False)) as connection:
        connection.execute(insert(Worker).values(**row, id="alive", beat_at=now()))
    assert check_workers(settings, "here").ok


@contextmanager
def served(outlook: ProcessStatus) -> Iterator[int]:
    server = HealthServer("127.0.0.1", 0, outlook)
    server.start()
    try:
        yield server.port
    finally:
        server.stop()


def get(port: int, path: str, method: str = "GET") -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_the_server_tells_what_is_wrong() -> None:
    state = {"ok": True}
    question = lambda: Check("mood", state["ok"], "it rains")  # noqa: E731
    with served(ProcessStatus("worker", [question], [question], [])) as port:
        assert get(port, "/health/ready")[0] == 200
        state["ok"] = False
        status, body = get(port, "/health/ready?verbose=1")
        assert (status, json.loads(body)) == (
            503,
            {"role": "worker", "ok": False, "checks": {"mood": {"ok": False, "reason": "it rains"}}},
        )
        assert get(port, "/health/live")[0] == 503
        assert get(port, "/health/live", "HEAD") == (503, b"")
        status, body = get(port, "/metrics")
        assert status == 200
        assert b"process_resident_memory_bytes" in body
        assert get(port, "/../etc/passwd")[0] == 404
        assert get(port, "/metrics", "POST")[0] == 501
        with pytest.raises(AddressTaken, match=f"127.0.0.1:{port}: Address already in use"):
            HealthServer("127.0.0.1", port, ProcessStatus("worker", [], [], []))


def test_a_question_that_fails_is_an_answer_too(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> Check:
        raise RuntimeError("a defect")

    with served(ProcessStatus("worker", [], [fail], [])) as port:
        assert get(port, "/health/ready")[0] == 500
        assert get(port, "/health/live")[0] == 200
    assert "a defect" in caplog.text


def test_who_says_nothing_holds_up_nobody() -> None:
    silent = []
    with served(ProcessStatus("worker", [], [], [])) as port:
        for _ in range(MOST_REQUESTS + 4):
            silent.append(socket.create_connection(("127.0.0.1", port)))
        assert get(port, "/health/live")[0] == 200
    for each in silent:
        each.close()
    assert IDLE_SECONDS < 30


def test_health_is_well_when_all_is() -> None:
    well, ill = Check("a", True, ""), Check("b", False, "")
    assert Health((well,)).ok
    assert not Health((well, ill)).ok
