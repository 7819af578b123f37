"""How often somebody may do something."""

import time
from collections.abc import Iterator

import pytest
from limits.storage import memory

from campaigns.accounts.throttle import Rate, Throttle, network_of
from campaigns.errors import TooMany
from tests.service.rate_limits import first_minute_of_a_day

THREE = Rate("try", 3, 60)


@pytest.fixture
def early() -> Iterator[None]:
    with first_minute_of_a_day():
        yield


@pytest.mark.usefixtures("early")
def test_so_many_and_no_more_of_one_thing_by_one_person() -> None:
    throttle = Throttle("memory://localhost/")
    for _ in range(3):
        throttle.check(THREE, "mary")
        throttle.hit(THREE, "mary")
    for ask in (throttle.check, throttle.hit):
        with pytest.raises(TooMany, match="Enough"):
            ask(THREE, "mary", "Enough.")
    throttle.hit(THREE, "zoe")
    throttle.hit(Rate("other", 3, 60), "mary")
    throttle.reset(THREE, "mary")
    throttle.hit(THREE, "mary")


@pytest.mark.parametrize("steps", [((0, 3),), ((20, 3),), ((59, 3),), ((50, 3), (25, 1)), ((0, 3), (61, 1))])
def test_after_the_stated_wait_a_client_may_go_on_and_not_much_before(
    steps: tuple[tuple[float, int], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1_000_020.0]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    assert memory.time.time() == clock[0]
    throttle = Throttle("memory://localhost/")
    for seconds, times in steps:
        clock[0] += seconds
        for _ in range(times):
            throttle.hit(THREE, "mary")
    with pytest.raises(TooMany) as refused:
        throttle.hit(THREE, "mary")
    wait = refused.value.retry_seconds
    assert wait is not None
    begin = clock[0]
    clock[0] = begin + wait - 1.5
    with pytest.raises(TooMany):
        throttle.check(THREE, "mary")
    clock[0] = begin + wait
    throttle.hit(THREE, "mary")


def test_servers_with_one_redis_count_together(redis_url: str) -> None:
    one, other = Throttle(redis_url), Throttle(redis_url)
    for throttle in (one, other, one):
        throttle.hit(THREE, "mary")
    with pytest.raises(TooMany):
        other.hit(THREE, "mary")


@pytest.mark.usefixtures("early")
def test_without_redis_each_counts_alone(caplog: pytest.LogCaptureFixture) -> None:
    throttle = Throttle("redis://:hidden@127.0.0.1:1/0")
    for _ in range(3):
        throttle.hit(THREE, "mary")
    with pytest.raises(TooMany):
        throttle.hit(THREE, "mary")
    assert "counts alone" in caplog.text
    assert "hidden" not in caplog.text


def test_a_household_is_one() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff") != network_of("2001:db8:0:1::1")
    assert network_of("::ffff:192.0.2.1") == network_of("192.0.2.1") == "192.0.2.1"
    assert network_of("testclient") == "testclient"
