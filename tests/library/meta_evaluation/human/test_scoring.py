"""Scores from ratings and errors: worked examples, the statistics module's way, and laws."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.meta_evaluation.human.judgments import Judgment, SegmentScore, SystemScore
from steelyard.meta_evaluation.human.scoring import penalties, segment_scores, standardised, system_scores

RATINGS = [
    # Eva's mean is 60 and her standard deviation 20; Jan's 85 and 10.
    Judgment("eva", "x", 0, 40.0),
    Judgment("eva", "y", 0, 60.0),
    Judgment("eva", "y", 1, 80.0),
    Judgment("jan", "x", 0, 75.0),
    Judgment("jan", "x", 1, 85.0),
    Judgment("jan", "y", 0, 95.0),
]


def test_standardised_by_hand():
    assert standardised(RATINGS) == [-1.0, 0.0, 1.0, -1.0, 0.0, 1.0]


def test_scores_by_hand():
    segments = segment_scores(RATINGS, standardised(RATINGS))
    assert segments == [
        SegmentScore("x", 0, -1.0, 57.5, 2),
        SegmentScore("x", 1, 0.0, 85.0, 1),
        SegmentScore("y", 0, 0.5, 77.5, 2),
        SegmentScore("y", 1, 1.0, 80.0, 1),
    ]
    # A mean of segments, not of judgments: that of x would be -2/3.
    assert system_scores(segments) == [SystemScore("x", -0.5, 71.25, 2, 3), SystemScore("y", 0.75, 78.75, 2, 3)]


def test_annotators_who_say_nothing_are_left_out():
    judgments = [
        *RATINGS,
        Judgment("once", "x", 0, 100.0),
        # The mean of three times 0.1 is not 0.1 in binary; that is no variance.
        *(Judgment("same", "y", segment, 0.1) for segment in (0, 1, 2)),
        # Their squares are 0 in binary.
        *(Judgment("nearly", "y", segment, rating) for segment, rating in ((0, 0.0), (1, 1e-200))),
    ]
    z = standardised(judgments)
    assert z[: len(RATINGS)] == standardised(RATINGS)
    assert all(math.isnan(value) for value in z[len(RATINGS) :])
    assert segment_scores(judgments, z) == segment_scores(RATINGS, standardised(RATINGS))


def test_missing_figures_stay_missing():
    segments = [SegmentScore("x", 0, 1.0), SegmentScore("x", 1, 2.0, 50.0, 3)]
    assert system_scores(segments) == [SystemScore("x", 1.5, None, 2, None)]
    assert system_scores([]) == []


def test_penalties_add_up_what_an_annotator_found():
    errors = [
        Judgment("eva", "x", 0, 5.0, "Major/Accuracy"),
        Judgment("jan", "x", 0, 0.0, "no-error/no-error"),
        Judgment("eva", "x", 0, 0.1, "Minor/Fluency/Punctuation"),
        Judgment("eva", "x", 1, 1.0, "Minor/Style"),
    ]
    assert penalties(errors) == [
        Judgment("eva", "x", 0, 5.1),
        Judgment("jan", "x", 0, 0.0),
        Judgment("eva", "x", 1, 1.0),
    ]


ratings = st.lists(
    st.builds(
        Judgment,
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["x", "y"]),
        st.integers(0, 3),
        st.integers(0, 1000).map(lambda tenths: tenths / 10),
    ),
    max_size=30,
)


@given(judgments=ratings)
def test_standardised_is_what_the_statistics_module_gives(judgments):
    z = standardised(judgments)
    for annotator in {judgment.annotator for judgment in judgments}:
        given_by = [judgment.value for judgment in judgments if judgment.annotator == annotator]
        ours = [value for judgment, value in zip(judgments, z, strict=True) if judgment.annotator == annotator]
        if len(set(given_by)) < 2:
            assert all(math.isnan(value) for value in ours)
        else:
            mean, spread = statistics.fmean(given_by), statistics.stdev(given_by)
            assert ours == pytest.approx([(value - mean) / spread for value in given_by], rel=1e-9, abs=1e-9)


@given(judgments=ratings, data=st.data())
def test_no_score_depends_on_the_order(judgments, data):
    turned = data.draw(st.permutations(judgments))

    def scores(of):
        segments = segment_scores(of, standardised(of))
        return segments, system_scores(segments), segment_scores(of, [judgment.value for judgment in of])

    assert scores(turned) == scores(judgments)
