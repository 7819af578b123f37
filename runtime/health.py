"""Whether a process is alive and ready: checks with reasons, and the pulse of a loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runtime.redaction import redacted

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


@dataclass(frozen=True, slots=True)
class ProcessStatus:
    """What a process shows of itself."""

    role: str
    live: Sequence[Question]
    ready: Sequence[Question]
    collectors: Sequence[object]
    """Of `prometheus_client`."""


def run_checks(questions: Sequence[Question]) -> Health:
    """Ask all of them."""
    return Health(tuple(question() for question in questions))


class Liveness:
    """When a loop turned last, and when it did so with success. For one thread that beats and others that look."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._ran: float | None = None
        self._done: float | None = None
        self._last_error = ""

    def done(self) -> None:
        """The loop did what it should."""
        self._ran = self._done = time.monotonic()
        self._last_error = ""

    def failed(self, error: object) -> None:
        """The loop ran, but failed."""
        self._ran = time.monotonic()
        self._last_error = str(error).strip()

    def succeeds(self, seconds: float) -> Check:
        """Whether it succeeded within so many seconds."""
        return self._check(self._done, seconds)

    def alive(self) -> Check:
        """Whether the loop runs at all."""
        return self._check(self._ran, DEAD_SECONDS)

    def _check(self, at: float | None, seconds: float) -> Check:
        if at is None:
            return Check(self.name, False, redacted(f"none yet. {self._last_error}".strip()))
        age = time.monotonic() - at
        last = f"; {self._last_error}" if self._last_error else ""
        return Check(self.name, age <= seconds, redacted(f"{age:.1f} s ago, at most {seconds:g} s are well{last}"))
