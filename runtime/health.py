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
