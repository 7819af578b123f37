"""Who took how long, where work is shared."""

import pytest

from steelyard.metrics.preparation.stopwatch import Stopwatch
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import shard_statistics
from steelyard.metrics.segments import Segments


class Clock:
    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def test_shared_work_is_divided_among_those_that_use_it() -> None:
    clock = Clock()
    watch = Stopwatch(clock)
    with watch.timing("a"):
        clock.time += 1
        with watch.timing("table"):
            with watch.timing("words"):
                clock.time += 6
            clock.time += 4
        clock.time += 1
    clock.time += 100
    with watch.timing("b"):
        watch.uses("table")
        clock.time += 5
    with watch.timing("c"):
        watch.uses("words")
    assert watch.total == 17
    # The table's words are needed by all three, whoever had them made.
    assert watch.shares(["a", "b", "c"]) == [2 + 2 + 2, 5 + 2 + 2, 2]
    assert watch.shares(["c"]) == [6]
    assert watch.shares(["d"]) == [0]


def test_what_raises_is_measured_too() -> None:
    clock = Clock()
    watch = Stopwatch(clock)

    def fail() -> None:
        clock.time += 1
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"), watch.timing("a"), watch.timing("b"):
        fail()
    clock.time += 1
    assert watch.shares(["a", "b"]) == [0.5, 0.5]


def test_a_batch_tells_what_metrics_share() -> None:
    metrics = [parse_metric(each) for each in ("bleu", "tbleu", "ter", "meteor:modules=exact")]
    # The last letter is written in two ways: metrics that compare forms work on another segments, with one of them.
    segments = Segments(references=[b"a cat sat\non a cafe\xcc\x81"], hypotheses=[b"a cat\non a caf\xc3\xa9"])
    plain = shard_statistics(segments, metrics)
    measured = Segments(references=segments.references, hypotheses=segments.hypotheses)
    watch = measured.stopwatch = Stopwatch()
    calls: list[None] = []
    statistics = shard_statistics(measured, metrics, lambda: calls.append(None))
    assert [each.tobytes() for each in statistics] == [each.tobytes() for each in plain]
    shares = watch.shares([*range(len(metrics))])
    assert all(share > 0 for share in shares)
    assert sum(shares) == pytest.approx(watch.total)
    assert len(calls) == len(metrics) - 1
