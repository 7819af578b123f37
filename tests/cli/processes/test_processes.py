"""`worker`, `scheduler`, `serve` and `up`: their options reach what runs, and the environment fills the rest."""

from __future__ import annotations

import logging
import signal
from typing import Any

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import OperationalError

from cli.main import main
from cli.processes import up
from cli.processes.serve import tell
from models.database.session import make_engine, writing
from models.schema.accounts import Account
from models.schema.roles import SiteRole
from runtime import logs
from runtime.service_settings import WebSettings
from scheduler import loop
from scheduler.errors import AlreadyRunning, StorageFailed
from web import serving, supervised
from web.serving import Address
from worker import app
from worker.learned import running


@pytest.fixture
def ran(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is called in place of what would run for ever."""
    found: list[Any] = []
    monkeypatch.setenv("STEELYARD_DATABASE_URL", sqlite_url)
    monkeypatch.setenv("STEELYARD_BROKER_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setattr(logs, "set_up_logs", lambda *_, **__: None)
    monkeypatch.setattr(app, "run_worker", lambda settings, number: found.append((settings, number)) or 0)
    monkeypatch.setattr(running, "run_learned_worker", lambda settings, device: found.append((settings, device)) or 0)
    monkeypatch.setattr(loop, "run", lambda settings, _stop: found.append(settings))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(serving, "serve", lambda settings, _tell: found.append(settings))
    return found


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], None),
        (["--concurrency", "3"], 3),
        (["--queue", "learned"], None),
        (["--queue", "learned", "--device", "cpu"], "cpu"),
    ],
)
def test_a_worker_runs_as_it_was_told(ran: list[Any], words: list[str], expected: object) -> None:
    assert main(["worker", *words]) == 0
    [(_, told)] = ran
    assert told == expected


@pytest.mark.parametrize(
    ("words", "host", "port"),
    [
        ([], "0.0.0.0", 9000),
        (["--http", "9108"], "0.0.0.0", 9108),
        (["--http", "localhost:9108"], "localhost", 9108),
        (["--http", "[::1]:0"], "::1", 0),
    ],
)
def test_health_is_served_where_it_was_asked_for(
    ran: list[Any], monkeypatch: pytest.MonkeyPatch, words: list[str], host: str, port: int
) -> None:
    monkeypatch.setenv("STEELYARD_HTTP_HOST", "0.0.0.0")
    monkeypatch.setenv("STEELYARD_HTTP_PORT", "9000")
    assert main(["worker", *words]) == main(["scheduler", *words]) == main(["serve", *words]) == 0
    assert [(each.http_host, each.http_port) for each in (ran[0][0], ran[1], ran[2])] == [(host, port)] * 3


@pytest.mark.parametrize("address", ["", ":9108", "host:", "host:x", "65536", "-1"])
def test_what_is_no_address_is_refused(ran: list[Any], address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["worker", "--http", address]) == 2
    assert "is not PORT or HOST:PORT" in capsys.readouterr().err
    assert not ran


def test_pages_are_served_where_they_were_asked_for(ran: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_WEB_PORT", "9001")
    for words in ([], ["--port", "0"], ["--host", "::1", "--port", "9002"]):
        assert main(["serve", *words]) == 0
    assert [(each.web_host, each.web_port) for each in ran] == [("127.0.0.1", 9001), ("127.0.0.1", 0), ("::1", 9002)]


def test_a_scheduler_needs_a_broker_and_up_brings_its_own(
    ran: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:

    def work(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(up, "_work", work)
    assert main(["up", "--no-web"]) == 1
    assert "brings its own broker" in capsys.readouterr().err
    monkeypatch.delenv("STEELYARD_BROKER_URL")
    assert main(["scheduler"]) == 1
    assert "STEELYARD_BROKER_URL is not set" in capsys.readouterr().err
    assert not ran


@pytest.mark.parametrize(
    ("words", "environment", "expected"),
    [(["--no-web"], 0, 0), (["--no-web"], 2, 2), ([], 0, 5), ([], 2, 5), ([], 9, 9)],
)
def test_workers_beside_pages_are_nicer(
    ran: list[Any], monkeypatch: pytest.MonkeyPatch, words: list[str], environment: int, expected: int
) -> None:
    class Web:
        """In place of the pages' process."""

        def __init__(self, settings: Any, _started: object) -> None:
            ran.append(settings.niceness)

        def start(self) -> None: ...

        def stop(self) -> None:
            ran.append("stopped")

    def work(settings: Any, processes: int | None, _web: object) -> None:
        ran.append((settings.niceness, processes))
        raise KeyboardInterrupt

    monkeypatch.delenv("STEELYARD_BROKER_URL")
    monkeypatch.setenv("STEELYARD_NICENESS", str(environment))
    monkeypatch.setattr(supervised, "SupervisedWeb", Web)
    monkeypatch.setattr(up, "_work", work)
    assert main(["up", "--processes", "3", *words]) == 0
    assert ran == ([(expected, 3)] if words else [expected, (expected, 3), "stopped"])


def test_up_says_why_the_database_cannot_be_used_and_starts_again(
    ran: list[Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A disk that is full has room again some time; who waits for the scores is not to start anything by hand."""
    full = StorageFailed("The database a.db cannot be used: database or disk is full. See that the disk has space.")
    away = OperationalError("select 1", None, OSError("connection refused"))
    ends: list[BaseException] = [full, AlreadyRunning(), AlreadyRunning(), away, KeyboardInterrupt()]

    def work(*_: object) -> None:
        raise ends[len(ran) // 2]

    def rest(seconds: float, _web: object) -> None:
        ran.extend(["rest", seconds])

    monkeypatch.delenv("STEELYARD_BROKER_URL")
    monkeypatch.setattr(up, "_work", work)
    monkeypatch.setattr(up, "_rest", rest)
    caplog.set_level(logging.INFO, "steelyard")
    assert main(["up", "--no-web"]) == 0
    assert ran[1::2] == [up.AGAIN_SECONDS, up.LOOK_SECONDS, up.LOOK_SECONDS, up.AGAIN_SECONDS]
    said = [(each.levelname, each.getMessage()) for each in caplog.records if each.name == "steelyard"]
    assert [level for level, _ in said] == ["ERROR", "INFO", "ERROR", "INFO"]
    assert said[0][1].endswith(f"starting again in 5 s: {full}")
    assert said[1][1].startswith("Another process works on ")
    assert said[2][1].endswith("starting again in 5 s: connection refused")


def test_the_link_for_the_first_account_is_printed_while_there_is_none(
    sqlite_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, address = WebSettings(database_url=sqlite_url), Address("127.0.0.1", 80, "https://mt.example.org")
    tell(settings, address)
    first, second = capsys.readouterr().out.splitlines()
    assert first == "Steelyard is at https://mt.example.org/"
    told = "There is no account yet. Make the administrator's within 24 h: https://mt.example.org/invitations/"
    assert second.startswith(told)
    tell(settings.model_copy(update={"invitation_seconds": 5400.0}), address)
    assert "administrator's within 1.5 h: " in capsys.readouterr().out
    with writing(make_engine(sqlite_url)) as connection:
        connection.execute(insert(Account).values(email="ann@example.org", name="Ann", role=SiteRole.ADMINISTRATOR))
    tell(settings, address)
    assert capsys.readouterr().out == "Steelyard is at https://mt.example.org/\n"
