"""Threads of the embedded pool: they look as often as billiard's do, and rest only until they are told to end."""

from itertools import repeat
from types import SimpleNamespace
from typing import Any

import pytest
from billiard.exceptions import RestartFreqExceeded
from billiard.pool import CLOSE, RUN

from scheduler import embedded_pool
from scheduler.embedded_pool import BURST, _Keeper, _Limits

HOUR = 3600.0
ENOUGH = 30.0


def pool_that(maintain: Any) -> SimpleNamespace:
    """What a keeper sees of a pool."""
    return SimpleNamespace(_state=RUN, _processes=2, restart_state="usual", _maintain_pool=maintain)


@pytest.mark.parametrize("end", ["close", "terminate"])
def test_they_end_when_told_to(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_pool, "_rests", lambda: repeat(HOUR))
    monkeypatch.setattr(embedded_pool, "LIMITS_SECONDS", HOUR)
    for thread in (_Keeper(pool_that(lambda: None)), _Limits([], {}, None, None)):
        thread.start()
        getattr(thread, end)()
        thread.join(ENOUGH)
        assert not thread.is_alive()


def test_more_processes_may_die_just_after_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_pool, "_rests", lambda: repeat(0.0))
    states = []

    def maintain() -> None:
        states.append(pool.restart_state)
        if len(states) == BURST + 2:
            pool._state = CLOSE

    pool = pool_that(maintain)
    _Keeper(pool).body()
    assert [state == "usual" for state in states] == [False] * BURST + [True] * 2
    assert states[0].maxR == 20


def test_a_pool_whose_processes_die_all_the_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_pool, "_rests", lambda: repeat(0.0))

    def maintain() -> None:
        raise RestartFreqExceeded

    pool = pool_that(maintain)
    ended: list[str] = []
    pool.close, pool.join = lambda: ended.append("closed"), lambda: ended.append("joined")
    with pytest.raises(RestartFreqExceeded):
        _Keeper(pool).body()
    assert ended == ["closed", "joined"]
