"""Liveness and readiness of a process: checks with reasons, and the liveness of a loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runtime.redaction import redacted

DEAD_SECONDS = 120.0
"""Seconds without an iteration after which a loop counts as dead; a database that hangs delays it by less."""


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check."""

    name: str
    ok: bool
    reason: str
    """What was found, also if the check succeeded."""


@dataclass(frozen=True, slots=True)
class Health:
    """The results of all checks."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether all checks succeeded."""
        return all(check.ok for check in self.checks)

    def as_json(self) -> dict[str, object]:
        """`ok`, and the `ok` and `reason` of each check."""
        checks = {check.name: {"ok": check.ok, "reason": check.reason} for check in self.checks}
        return {"ok": self.ok, "checks": checks}


@dataclass(frozen=True, slots=True)
class ProcessStatus:
    """The status of a process: its checks and its metrics."""

    role: str
    live: Sequence[Callable[[], Check]]
    ready: Sequence[Callable[[], Check]]
    collectors: Sequence[object]
    """Collectors of `prometheus_client`."""


def run_checks(checks: Sequence[Callable[[], Check]]) -> Health:
    """Run all checks."""
    return Health(tuple(check() for check in checks))


class Liveness:
    """When a loop last ran, and when it last succeeded: written by its thread, read by others."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._ran: float | None = None
        self._done: float | None = None
        self._last_error = ""

    def done(self) -> None:
        """Record a successful iteration."""
        self._ran = self._done = time.monotonic()
        self._last_error = ""

    def failed(self, error: object) -> None:
        """Record an iteration that failed."""
        self._ran = time.monotonic()
        self._last_error = str(error).strip()

    def succeeds(self, seconds: float) -> Check:
        """Whether it succeeded within the last `seconds`."""
        return self._check(self._done, seconds)

    def alive(self) -> Check:
        """Whether the loop is running at all."""
        return self._check(self._ran, DEAD_SECONDS)

    def _check(self, at: float | None, seconds: float) -> Check:
        if at is None:
            return Check(self.name, False, redacted(f"none yet. {self._last_error}".strip()))
        age = time.monotonic() - at
        last = f"; {self._last_error}" if self._last_error else ""
        return Check(self.name, age <= seconds, redacted(f"{age:.1f} s ago, at most {seconds:g} s are well{last}"))
