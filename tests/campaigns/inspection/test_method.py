"""The descriptions of metrics on the page about methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace
from typing import ClassVar

import pytest

from campaigns.inspection import method
from campaigns.inspection.method import describe_metrics
from steelyard import BLEU
from steelyard.metrics.registry import all_metrics


class Lines(BLEU):
    """Lines that are equal.

    And more.
    """

    name: ClassVar[str] = "lines"


@pytest.fixture(autouse=True)
def again() -> Iterator[None]:
    """Nothing is kept from others, nor for them."""
    describe_metrics.cache_clear()
    yield
    describe_metrics.cache_clear()


def test_metrics_of_others_come_after_ours_and_none_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is wrong with one of them, the page works."""
    offered = [SimpleNamespace(name=each) for each in ("bleu", "odd", "lines")]
    known = {"bleu": BLEU, "lines": Lines}
    monkeypatch.setattr(method, "offers", lambda: offered)
    monkeypatch.setattr(method, "metric_class", known.__getitem__)
    found = describe_metrics()
    assert [each.name for each in found] == [*(metric.name for metric in all_metrics()), "lines"]
    assert set(Counter(each.name for each in found).values()) == {1}
    assert (found[-1].summary, found[-1].more) == ("Lines that are equal.", "And more.")
