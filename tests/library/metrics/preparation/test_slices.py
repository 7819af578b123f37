"""A segments is worked on in slices, which nothing depends on but the time until somebody is heard."""

import pytest

from steelyard import BLEU
from steelyard.metrics.preparation.slicing import SLICE_BYTES
from steelyard.metrics.score_systems import shard_statistics
from steelyard.metrics.segments import Segments


def test_of_very_long_segments_one_is_worked_on_at_a_time():
    long = b"a " * (SLICE_BYTES // 4)
    segments = Segments(references=[b"\n".join([long] * 3)], hypotheses=[b"\n".join([b"a"] * 3)])
    assert [len(each) for each in segments.slices()] == [2, 1]
    segments = Segments(references=[b"\n".join([long] * 3)], hypotheses=[b"\n".join([long] * 3)])
    assert [len(each) for each in segments.slices()] == [1, 1, 1]
    heard = []
    (statistics,) = shard_statistics(segments, [BLEU()], between=lambda: heard.append(1))
    assert statistics.shape[:2] == (1, 3)
    assert len(heard) == 2


@pytest.mark.parametrize(("segments", "slices"), [(1, 1), (2000, 1), (2049, 2)])
def test_usual_segments_are_worked_on_in_thousands(segments, slices):
    text = b"\n".join([b"a usual segment of some words " * 4] * segments)
    assert len(list(Segments(references=[text], hypotheses=[text]).slices())) == slices
