"""What a loop tells of itself, and what a process tells of its loops."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import pytest

from runtime import health
from runtime.health import DEAD_SECONDS, Check, Liveness, run_checks


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock."""
    found = [1000.0]
    monkeypatch.setattr(health, "time", SimpleNamespace(monotonic=lambda: found[0]))
    return found


def test_a_loop_that_fails_is_alive_and_does_not_succeed(now: list[float]) -> None:
    loop = Liveness("beat")
    assert (loop.alive(), loop.succeeds(5.0)) == (Check("beat", False, "none yet."),) * 2
    loop.failed("no database\n")
    assert loop.alive().ok
    assert loop.succeeds(5.0) == Check("beat", False, "none yet. no database")
    loop.done()
    now[0] += 5.0
    assert loop.succeeds(5.0) == Check("beat", True, "5.0 s ago, at most 5 s are well")
    loop.failed("postgresql://me:hunter2@db gone")
    now[0] += 1.0
    assert loop.succeeds(5.0) == Check("beat", False, "6.0 s ago, at most 5 s are well; postgresql://me:***@db gone")
    assert loop.alive().ok
    now[0] += DEAD_SECONDS
    assert not loop.alive().ok
    loop.done()
    assert loop.succeeds(5.0) == Check("beat", True, "0.0 s ago, at most 5 s are well"), "what is over is not told"


def test_all_checks_must_succeed() -> None:
    for oks in product((True, False), repeat=2):
        found = run_checks([lambda ok=ok: Check(f"{ok}", ok, "why") for ok in oks])
        assert found.ok == all(oks)
        assert found.as_json()["ok"] == all(oks)
    assert run_checks([]).ok
