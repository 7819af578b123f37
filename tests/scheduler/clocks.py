"""A database's clock, which tests can read and set."""

from __future__ import annotations

import time
from typing import Any

import pytest
from sqlalchemy import Engine, text

from models.database.session import autocommit_reading, make_engine, writing
from models.schema.base import database_time, now
from scheduler.clock_jumps import ClockReading

DAY = 86_400.0


class SetClock:
    """Sets the clock of a database for all processes that are forked from this one."""

    def __init__(self, url: str) -> None:
        self._engine = make_engine(url, pooled=False)
        with writing(self._engine) as connection:
            connection.execute(text("CREATE TABLE clock (ahead DOUBLE PRECISION)"))
            connection.execute(text("INSERT INTO clock VALUES (0)"))

    def set(self, seconds: float) -> None:
        """Let the clock be so far ahead of the true time."""
        with writing(self._engine) as connection:
            connection.execute(text("UPDATE clock SET ahead = :seconds"), {"seconds": seconds})


def set_clock(url: str, monkeypatch: pytest.MonkeyPatch) -> SetClock:
    """A clock for the database of that URL, until the test is over."""
    dispatcher = now._compiler_dispatcher  # type: ignore[attr-defined]
    for name, true in list(dispatcher.specs.items()):

        def ahead(element: object, compiler: Any, true: Any = true, **options: Any) -> str:
            return f"({true(element, compiler, **options)} + (SELECT ahead FROM clock))"

        monkeypatch.setitem(dispatcher.specs, name, ahead)
    return SetClock(url)


def read_clock(engine: Engine) -> ClockReading:
    """Read the database's clock."""
    before = time.monotonic()
    with autocommit_reading(engine) as connection:
        there = database_time(connection)
    return ClockReading(there, before, time.monotonic())
