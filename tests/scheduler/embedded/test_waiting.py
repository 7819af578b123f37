"""A command that waits: through outages, and for what it asked for itself."""

from __future__ import annotations

import logging
import sqlite3
from types import SimpleNamespace
from typing import Any, Self

import psycopg
import pytest
from sqlalchemy.exc import IntegrityError, OperationalError

from models.database.session import make_engine
from runtime.settings import Settings
from scheduler.embedded import randomize, shared, wait
from scheduler.embedded.wait import Outage, Watch, with_retries
from scheduler.errors import AlreadyRunning, ComparisonFailed

AWAY = OperationalError(
    "SELECT 1", {}, psycopg.OperationalError("server closed the connection"), connection_invalidated=True
)


def test_an_outage_is_told_of_once_and_its_end_too(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wait, "OUTAGE_SECONDS", 0.0)
    caplog.set_level(logging.WARNING)
    outage = Outage()
    for error in (None, AWAY, AWAY, AWAY, None, None, AWAY, None):
        with outage.tolerated():
            if error is not None:
                raise error
    away, back = "The database cannot be reached", "The database is available again"
    assert [each[: len(away)] for each in caplog.messages] == [away, back[: len(away)]] * 2


@pytest.mark.parametrize(
    "error",
    [
        IntegrityError("INSERT", {}, sqlite3.IntegrityError("UNIQUE constraint failed")),
        OperationalError("SELECT", {}, sqlite3.OperationalError("database disk image is malformed")),
        OperationalError("SELECT", {}, psycopg.errors.UndefinedTable("no such table")),
        ValueError("no outage at all"),
    ],
    ids=str,
)
def test_an_error_that_will_not_pass_is_raised(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be waited out for ever."""
    monkeypatch.setattr(wait, "OUTAGE_SECONDS", 0.0)
    tries = list[int]()

    def fail() -> None:
        tries.append(1)
        if len(tries) < 3:
            raise error

    with pytest.raises(type(error)):
        with_retries(fail)
    assert len(tries) == 1


def test_only_changes_are_told(sqlite_url: str) -> None:
    states = [SimpleNamespace(open=number) for number in (3, 3, 2, 2, 2, 0)]
    told: list[Any] = []
    watch = Watch[Any](make_engine(sqlite_url), lambda _: states[len(seen)], told.append, Outage())
    seen: list[bool] = []
    for _ in states:
        seen.append(watch.poll())
    assert seen == [False] * 5 + [True]
    assert [each.open for each in told] == [3, 2, 0]


class Shared:
    """In place of the embedded worker."""

    failures: tuple[str, ...] = ()

    def __init__(self, *_: object) -> None:
        self.engine = "engine"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def run_until(self, *_: object) -> Any:
        return SimpleNamespace(failures=self.failures)


def test_its_own_comparisons_go_first_and_their_failures_are_told(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, preferred = list[tuple[Any, ...]](), list[Any]()

    def request(_engine: object, _settings: object, protocol: int, pairs: Any, metrics: Any, **more: Any) -> int | None:
        asked.append((protocol, pairs, metrics, more["trials"], more["seed"], more["processes"]))
        return None if protocol == 2 else 70 + protocol

    monkeypatch.setattr(randomize, "request_comparison", request)
    monkeypatch.setattr(randomize, "_prefer", lambda *given: preferred.append(given))
    monkeypatch.setattr(shared, "SharedEmbedded", Shared)
    wanted: Any = [
        SimpleNamespace(protocol_id=number, pairs=[number], metrics=[0], trials=100 + number, seed=200 + number)
        for number in (1, 2, 3)
    ]
    settings = Settings(database_url=sqlite_url)
    randomize.randomize(settings, wanted, processes=5)
    assert asked == [(number, [number], [0], 100 + number, 200 + number, 5) for number in (1, 2, 3)]
    assert preferred == [("engine", [71, 73])], "what is stored already is not waited for"
    preferred.clear()
    randomize.randomize(settings, wanted[1:2])
    assert not preferred, "nothing is missing"
    monkeypatch.setattr(Shared, "failures", ("Too long.", "No memory."))
    with pytest.raises(ComparisonFailed, match=r"could not be compared\. Too long\. No memory\."):
        randomize.randomize(settings, wanted)


def test_no_connection_is_open_when_it_takes_over(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its processes are forked then, and two that use one connection spoil it for both."""
    done, leads = list[str](), [False]

    class Workers:
        def __init__(self, *_: object, **__: object) -> None: ...

        def __enter__(self) -> Self:
            if not leads[0]:
                raise AlreadyRunning
            done.append("forked")
            return self

        def __exit__(self, *_: object) -> None:
            done.append("ended")

    monkeypatch.setattr(shared, "Embedded", Workers)
    engine = SimpleNamespace(dispose=lambda: done.append("disposed"))
    monkeypatch.setattr(shared, "make_engine", lambda _url: engine)
    said: list[str] = []
    with shared.SharedEmbedded(Settings(database_url=sqlite_url), say=said.append) as embedded:
        assert (embedded.engine, done) == (engine, [])
        assert len(said) == 1
        assert not embedded._begin()
        leads[0] = True
        done.clear()
        assert embedded._begin()
        assert done == ["disposed", "forked"]
    assert done[2:] == ["ended", "disposed"]
