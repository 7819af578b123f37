"""A metric of one method: the mean of the segments that have a score."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from steelyard import SegmentMetric, evaluate
from steelyard.conformance import check, subjects


@dataclass(frozen=True)
class SamePlace(SegmentMetric):
    """Characters that are at the same place in the reference that has most of them, per character of the longer."""

    name: ClassVar[str] = "same-place"
    source: ClassVar[str] = "made up"
    factor: ClassVar[float] = 100.0

    def score_segments(self, segments):
        systems = [text.decode().split("\n") for text in segments.hypotheses]
        references = [text.decode().split("\n") for text in segments.references]
        best = [
            max(
                share(line, lines[place])
                for lines, there in zip(references, segments.reference_mask, strict=True)
                if there[place]
            )
            for text in systems
            for place, line in enumerate(text)
        ]
        return np.array(best).reshape(len(systems), len(segments))


def share(one, other):
    longest = max(len(one), len(other))
    return sum(a == b for a, b in zip(one, other, strict=False)) / longest if longest else math.nan


def test_the_mean_of_those_that_have_one():
    references = [["aaa", "", "bbbb"]]
    found = evaluate({"a": ["aab", "", "cccc"]}, references=references, metrics=[SamePlace()])
    thirds = np.rint(2 / 3 * 2**24) / 2**24
    assert found["a"]["same-place"].score == 100 * thirds / 2
    assert found.segments("same-place")[0, [0, 2]].tolist() == [100 * thirds, 0.0]
    assert math.isnan(found.segments("same-place")[0, 1])
    assert math.isnan(SamePlace().corpus_score([""], [[""]]).score)


def test_it_keeps_the_promises_of_every_metric(tmp_path):
    for subject in subjects(SamePlace, tmp_path):
        assert {finding.promise: finding.fault for finding in check(subject, 60) if finding.fault} == {}
