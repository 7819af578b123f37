"""Whether a process is alive and ready for its work, with reasons. Other rooms ask the same questions (`web`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from models.database import migrate
from models.database.error_kinds import explain
from models.database.session import make_engine, reading
from models.errors import ModelsError
from models.redaction import redacted
from models.schema.base import now
from models.schema.queue import Worker
from models.schema.states import QueueClass
from worker.errors import BrokerAway
from worker.queues import count_messages
from worker.settings import Settings

DEAD_SECONDS = 120.0
"""A loop that has not turned for so long will hardly do so again; a database that hangs holds it up for less."""


@dataclass(frozen=True, slots=True)
class Check:
    """The answer to one question."""

    name: str
    ok: bool
    reason: str
    """What was found, also where all is well."""


@dataclass(frozen=True, slots=True)
class Health:
    """The answers to all of them."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether all is well."""
        return all(check.ok for check in self.checks)

    def as_json(self) -> dict[str, object]:
        """`ok`, and of each check `ok` and its `reason`."""
        checks = {check.name: {"ok": check.ok, "reason": check.reason} for check in self.checks}
        return {"ok": self.ok, "checks": checks}


Question = Callable[[], Check]


def examine(questions: Sequence[Question]) -> Health:
    """Ask all of them."""
    return Health(tuple(question() for question in questions))


class Pulse:
    """When a loop turned last, and when it did so with success. For one thread that beats and others that look."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._turned: float | None = None
        self._done: float | None = None
        self._trouble = ""

    def done(self) -> None:
        """The loop did what it should."""
        self._turned = self._done = time.monotonic()
        self._trouble = ""

    def failed(self, trouble: object) -> None:
        """The loop turned, but could not do it."""
        self._turned = time.monotonic()
        self._trouble = str(trouble).strip()

    def succeeds(self, seconds: float) -> Check:
        """Whether it succeeded within so many seconds."""
        return self._check(self._done, seconds)

    def turns(self) -> Check:
        """Whether it turns at all."""
        return self._check(self._turned, DEAD_SECONDS)

    def _check(self, at: float | None, seconds: float) -> Check:
        if at is None:
            return Check(self.name, False, redacted(f"none yet. {self._trouble}".strip()))
        age = time.monotonic() - at
        trouble = f"; {self._trouble}" if self._trouble else ""
        return Check(self.name, age <= seconds, redacted(f"{age:.1f} s ago, at most {seconds:g} s are well{trouble}"))


def check_database(url: str) -> Check:
    """Whether the database can be reached and has tables that this release can work with."""
    try:
        found = migrate.current(url)
    except (ModelsError, DBAPIError) as error:
        said = explain(error) if isinstance(error, DBAPIError) else str(error)
        return Check("database", False, redacted(said))
    # Migrations only add, so a newer one than ours does no harm.
    if found is None or found < migrate.REVISION:
        return Check("database", False, f"its tables are {found or 'not there'}: run `steelyard db upgrade`")
    return Check("database", True, f"reachable, tables {found}")


def check_broker(app: Any, settings: Settings) -> Check:
    """Whether the broker answers."""
    if settings.embedded:
        return Check("broker", True, "in the memory of this process")
    try:
        waiting = sum(count_messages(app, QueueClass).values())
    except BrokerAway as error:
        return Check("broker", False, redacted(str(error)))
    return Check("broker", True, f"reachable, messages that wait: {waiting}")


def check_stopping() -> Check:
    """Whether Celery's worker in this process still takes messages."""
    from celery.worker import state

    stops = state.should_stop is not None or state.should_terminate is not None
    return Check("messages", not stops, "none are taken any more: it stops" if stops else "taken")


def check_workers(settings: Settings, host: str) -> Check:
    """Whether a worker of a host beats, by what the database says."""
    engine = make_engine(settings.database_url, pooled=False)
    try:
        with reading(engine) as connection:
            beating = Worker.beat_at >= now() - settings.silent_seconds
            amount = len(connection.scalars(select(Worker.id).where(Worker.host == host, beating)).all())
    except DBAPIError as error:
        return Check("worker", False, redacted(explain(error)))
    finally:
        engine.dispose()
    return Check("worker", amount > 0, f"workers of {host} that beat: {amount}")
