"""What is computed in the background: once, one at a time, and again after a failure."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from campaigns.background import MAX_RESULTS, BackgroundCache


@pytest.fixture
def slow() -> Iterator[BackgroundCache]:
    made = BackgroundCache("test")
    yield made
    made.close()


def test_each_result_is_computed_once(slow: BackgroundCache) -> None:
    made: list[str] = []

    def make(name: str) -> str:
        made.append(name)
        return name.upper()

    assert [slow.get(name, lambda name=name: make(name), 60) for name in ("a", "b", "a")] == ["A", "B", "A"]
    assert made == ["a", "b"]


def test_who_has_no_patience_gets_it_later(slow: BackgroundCache) -> None:
    begin = threading.Event()

    def make() -> str:
        assert begin.wait(60)
        return "made"

    assert slow.get("key", make, 0.0) is None
    begin.set()
    assert slow.get("key", make, 60) == "made"


@pytest.mark.parametrize("error", [OSError, TimeoutError])
def test_a_failure_is_reported_and_tried_again(slow: BackgroundCache, error: type[Exception]) -> None:
    def fail() -> object:
        raise error("not now")

    for _ in range(2):
        with pytest.raises(error, match="not now"):
            slow.get("key", fail, 60)
    assert slow.get("key", lambda: "made", 60) == "made"


def test_what_was_looked_at_last_is_kept(slow: BackgroundCache) -> None:
    for number in range(MAX_RESULTS):
        slow.get(number, lambda: "first", 60)
    assert slow.get(0, lambda: "again", 60) == "first"
    slow.get(MAX_RESULTS, lambda: "first", 60)
    assert [slow.get(number, lambda: "again", 60) for number in (0, 1)] == ["first", "again"]


def test_what_makes_room_for_others_is_computed_for_those_who_wait(slow: BackgroundCache) -> None:
    begin, found = threading.Event(), []
    assert slow.get("first", lambda: begin.wait(60), 0.0) is None
    waiting = threading.Thread(target=lambda: found.append(slow.get("wanted", lambda: "made")))
    waiting.start()
    while "wanted" not in slow._kept:
        threading.Event().wait(0.001)
    for number in range(MAX_RESULTS):
        assert slow.get(number, lambda: "other", 0.0) is None
    assert "wanted" not in slow._kept
    begin.set()
    waiting.join(60)
    assert found == ["made"]


def test_what_has_not_begun_when_it_closes_is_never_begun(slow: BackgroundCache) -> None:
    """A process that ends waits for its threads: for what runs, and not for all that was asked for."""
    running, go_on, made = threading.Event(), threading.Event(), list[str]()

    def first() -> None:
        running.set()
        assert go_on.wait(60)
        made.append("first")

    assert slow.get("first", first, 0) is None
    assert running.wait(60)
    assert slow.get("second", lambda: made.append("second"), 0) is None
    # It waits for nothing.
    slow.close()
    assert made == []
    go_on.set()
    assert slow._thread is not None
    slow._thread.shutdown(wait=True)
    assert made == ["first"]
