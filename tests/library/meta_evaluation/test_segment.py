"""Agreement of segment scores, against scipy, brute force and by hand."""

import itertools
import math
import warnings
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.meta_evaluation import tie_calibration
from steelyard.meta_evaluation.segment import RankingKendall
from steelyard.meta_evaluation.segment_statistic import SegmentStatistic, once_each
from steelyard.meta_evaluation.statistics import SEGMENT_STATISTICS, segment_statistic

GAP = math.nan


@st.composite
def matrices(draw):
    """Human and metric scores of few systems and segments, with gaps and many ties."""
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 5)))
    values = st.sampled_from([GAP, -30.0, 0.0, 0.5, 1.0, 30.0])
    return draw(arrays(np.float64, shape, elements=values)), draw(arrays(np.float64, shape, elements=values))


def pairs_of(human, metric, segment):
    """(human difference, metric difference) of all pairs of a segment."""
    known = [s for s in range(len(human)) if not math.isnan(human[s, segment] + metric[s, segment])]
    return [
        (human[a, segment] - human[b, segment], metric[a, segment] - metric[b, segment])
        for a, b in itertools.combinations(known, 2)
    ]


def mean(values):
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def by_scipy(function, x, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(x, y).statistic if len(x) > 1 and np.ptp(x) > 0 and np.ptp(y) > 0 else math.nan


def known_pair(x, y):
    cells = ~np.isnan(x) & ~np.isnan(y)
    return x[cells], y[cells]


def tau(pairs, count_ties=True):
    concordant = sum(h * m > 0 for h, m in pairs)
    discordant = sum(h * m < 0 for h, m in pairs)
    ties = sum(h != 0 and m == 0 for h, m in pairs) if count_ties else 0
    below = concordant + discordant + ties
    return (concordant - discordant) / below if below else math.nan


def accuracy(pairs, epsilon=0.0):
    if not pairs:
        return math.nan
    return sum(np.sign(h) == (0 if abs(m) <= epsilon else np.sign(m)) for h, m in pairs) / len(pairs)


def definition(name, human, metric):
    """Every statistic again, slowly."""
    segments = range(human.shape[1])
    columns = [known_pair(human[:, s], metric[:, s]) for s in segments]
    rows = [known_pair(human[s], metric[s]) for s in range(len(human))]
    pairs = [pairs_of(human, metric, s) for s in segments]
    together = list(itertools.chain(*pairs))
    match name:
        case "pearson":
            return by_scipy(stats.pearsonr, *known_pair(human, metric))
        case "kendall":
            return by_scipy(stats.kendalltau, *known_pair(human, metric))
        case "pearson-by-system":
            return mean([by_scipy(stats.pearsonr, *row) for row in rows])
        case "kendall-by-segment":
            return mean([by_scipy(stats.kendalltau, *column) for column in columns])
        case "spearman-by-segment":
            return mean([by_scipy(stats.spearmanr, *column) for column in columns])
        case "acc":
            return mean([accuracy(of_segment) for of_segment in pairs])
        case "acc-eq":
            thresholds = {0.0, *(abs(m) for _, m in together)}
            return max((mean([accuracy(each, e) for each in pairs]) for e in thresholds), key=lambda v: (v == v, v))
        case "kendall-wmt14":
            return tau(together)
        case "kendall-da":
            return tau([pair for pair in together if abs(pair[0]) > 25], count_ties=False)
    raise AssertionError(name)


def best_threshold(human, metric):
    """The smallest of those with the best accuracy, in rational numbers; NaN without a pair."""
    pairs = [of_segment for s in range(human.shape[1]) if (of_segment := pairs_of(human, metric, s))]
    right = {
        epsilon: sum(Fraction(sum(np.sign(h) == (np.sign(m) if abs(m) > epsilon else 0) for h, m in each), len(each))
                     for each in pairs)
        for epsilon in sorted({0.0, *(abs(m) for _, m in itertools.chain(*pairs))})
    }  # fmt: skip
    return max(right, key=right.__getitem__) if pairs else math.nan


@pytest.mark.parametrize("statistic", SEGMENT_STATISTICS, ids=lambda statistic: statistic.name)
@settings(max_examples=60)
@given(scores=matrices(), data=st.data())
def test_equals_its_definition_also_where_segments_are_drawn_again(statistic, scores, data):
    human, metric = scores
    drawn = data.draw(st.lists(st.integers(0, human.shape[1] - 1), min_size=1, max_size=6))
    counts = np.array([np.bincount(drawn, minlength=human.shape[1])], np.uint8)
    expected = definition(statistic.name, human, metric)
    assert statistic.value(human, metric) == pytest.approx(expected, abs=1e-6, nan_ok=True)
    expected = definition(statistic.name, human[:, drawn], metric[:, drawn])
    assert statistic.values(human, metric, counts)[0] == pytest.approx(expected, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("statistic", SEGMENT_STATISTICS, ids=lambda statistic: statistic.name)
def test_does_not_depend_on_the_order_of_systems(statistic):
    generator = np.random.default_rng(3)
    human, metric = generator.integers(0, 5, (2, 6, 40)).astype(np.float64) * 20
    human[generator.random(human.shape) < 0.3] = GAP
    counts = resampling_counts(40, 1, 20, 0, 40)
    order = generator.permutation(6)
    values = statistic.values(human, metric, counts)
    assert statistic.values(human[order], metric[order], counts) == pytest.approx(values, abs=1e-9, nan_ok=True)
    assert statistic.counted(human, metric) == statistic.counted(human[order], metric[order]) > 0


@pytest.mark.parametrize("statistic", SEGMENT_STATISTICS, ids=lambda statistic: statistic.name)
def test_many_replicates_at_once_are_those_one_by_one(statistic):
    """To the bit, and that which draws each segment once is the statistic itself."""
    generator = np.random.default_rng(5)
    human, metric = generator.normal(size=(2, 4, 9)).round(1) * 30
    human[generator.random(human.shape) < 0.2] = GAP
    counts = np.concatenate([once_each(9), generator.integers(0, 3, (70, 9)).astype(np.uint8)])
    together = statistic.values(human, metric, counts)
    np.testing.assert_array_equal(together, [statistic.values(human, metric, row[None])[0] for row in counts])
    assert together[0] == statistic.value(human, metric)
    assert len(set(together.tolist())) > 30


def test_kos_by_hand():
    """Two sentences: rank, mean rank where scores are equal, Spearman's rho, mean over the sentences."""
    # Ranks by people 1 2 3 4, by the metric 1 2.5 2.5 4: rho = 4.5 / sqrt(5 x 4.5) = 0.948683.
    # Ranks by people 1.5 1.5 3, by the metric 3 2 1: rho = -1.5 / sqrt(1.5 x 2) = -0.866025.
    # The third sentence says nothing: people find all equal.
    human = np.array([[1.0, 1, 7], [2, 1, 7], [3, 4, 7], [4, GAP, GAP]])
    metric = np.array([[0.1, 0.9, 0.1], [0.3, 0.5, 0.2], [0.3, 0.2, 0.3], [0.4, 0.7, 0.5]])
    kos = segment_statistic("spearman-by-segment")
    assert kos.value(human, metric) == pytest.approx((0.9486833 - 0.8660254) / 2, abs=1e-6)
    assert kos.counted(human, metric) == 2


def test_ties_as_wmt14_counted_them_by_hand():
    # Pairs of people's order a < b < c = d: ab concordant, ac and ad tied by the metric, bc and bd discordant; cd is
    # left out, for people find it equal.
    human, metric = np.array([[1.0], [2], [3], [3]]), np.array([[5.0], [6], [5], [5]])
    assert segment_statistic("kendall-wmt14").value(human, metric) == pytest.approx((1 - 2) / 5)
    assert segment_statistic("kendall-wmt14").counted(human, metric) == 5


def test_only_pairs_far_apart_count_for_direct_assessment():
    # 25 apart is not more than 25; the metric's tie is left out.
    human, metric = np.array([[0.0], [25], [51], [100]]), np.array([[1.0], [2], [0], [1]])
    # ab left out; ac discordant; ad tied; bc discordant; bd discordant; cd concordant.
    assert segment_statistic("kendall-da").value(human, metric) == pytest.approx((1 - 3) / 4)
    assert segment_statistic("kendall-da").counted(human, metric) == 4


def test_comparisons_of_rankings_by_hand():
    """Five in two segments: one with a system that the metric did not score says nothing."""
    metric = np.array([[3.0, GAP], [2, 1], [2, 2], [GAP, 5]])
    comparisons = np.array([[0, 0, 1], [0, 2, 0], [0, 1, 2], [0, 0, 3], [1, 3, 2], [1, 0, 1]])
    ranked = RankingKendall("kendall-wmt14", "", "", "comparisons", comparisons=comparisons)
    # Segment 0: concordant, discordant, tied; segment 1: concordant.
    human = np.zeros(metric.shape)
    assert ranked.value(human, metric) == (1 - 1 + 0 + 1) / 4
    assert ranked.counted(human, metric) == 4
    counts = np.array([[1, 0], [0, 2], [1, 3], [0, 0]], np.uint8)
    np.testing.assert_array_equal(ranked.values(human, metric, counts), [0, 1, 3 / 6, GAP])
    assert np.isnan(RankingKendall("", "", "", "comparisons").value(human, metric))


def test_scores_of_systems_that_lie_far_apart_lose_no_digits():
    draw = np.random.default_rng(2)
    human, metric = draw.normal(size=(2, 3, 40))
    far = np.array([[0.0], [1e9], [-1e9]])
    statistic = segment_statistic("pearson-by-system")
    expected = mean([by_scipy(stats.pearsonr, *rows) for rows in zip(human, metric, strict=True)])
    assert statistic.value(human, metric) == pytest.approx(expected, abs=1e-12)
    assert statistic.value(human, metric + far) == pytest.approx(expected, abs=1e-6)
    assert statistic.value(human + far, metric) == pytest.approx(expected, abs=1e-6)
    assert statistic.counted(human + far, metric + far) == 3


def test_tie_calibration_by_hand():
    # People: a = b < c. The metric: a 1, b 2, c 4. Without calibration ac and bc agree: 2/3. With epsilon 1 the pair
    # ab is a tie, too: 3/3. With 2 also bc: 2/3.
    human, metric = np.array([[3.0], [3], [5]]), np.array([[1.0], [2], [4]])
    calibrated = segment_statistic("acc-eq")
    assert segment_statistic("acc").value(human, metric) == pytest.approx(2 / 3)
    assert calibrated.value(human, metric) == 1
    assert calibrated.epsilon(human, metric) == 1


def test_tie_calibration_takes_the_smallest_of_equally_good_thresholds():
    human, metric = np.array([[1.0, 1], [2, 2]]), np.array([[1.0, 5], [3, 1]])
    # Epsilon 0: 1/2 right. Every tie would be wrong.
    assert segment_statistic("acc-eq").epsilon(human, metric) == 0


@settings(max_examples=60)
@given(scores=matrices(), seed=st.integers(0, 1000), at_once=st.integers(1, 40))
def test_tie_calibration_in_any_portions_equals_its_definition(scores, seed, at_once):
    """Two metrics exchange scores in trials, which are worked on side by side; drawn segments likewise."""
    draw = np.random.default_rng(seed)
    human, first = scores
    second = draw.permuted(first, axis=0)
    known = ~np.isnan(human + first + second)
    first, second = (np.where(known, metric, GAP) for metric in (first, second))
    swapped = (draw.random((70, *human.shape)) < 0.5) & known
    counts = draw.integers(0, 3, (70, human.shape[1])).astype(np.uint8)
    calibrated = segment_statistic("acc-eq")
    with mock.patch.object(tie_calibration, "AT_ONCE", at_once):
        exchanged = calibrated.exchanged(human, first, second)(swapped)
        drawn, thresholds = calibrated.calibrated(human, first, counts)
        epsilon = calibrated.epsilon(human, first)
    np.testing.assert_array_equal(calibrated.calibrated(human, first, counts), (drawn, thresholds))
    np.testing.assert_array_equal(epsilon, best_threshold(human, first))
    np.testing.assert_array_equal(SegmentStatistic.exchanged(calibrated, human, first, second)(swapped), exchanged)
    for trial in (0, 64):
        metrics = np.where(swapped[trial], second, first), np.where(swapped[trial], first, second)
        expected = [definition("acc-eq", human, metric) for metric in metrics]
        assert exchanged[:, trial] == pytest.approx(expected, abs=1e-9, nan_ok=True)
        again = np.repeat(np.arange(human.shape[1]), counts[trial])
        expected = definition("acc-eq", human[:, again], first[:, again])
        assert drawn[trial] == pytest.approx(expected, abs=1e-9, nan_ok=True)
        np.testing.assert_array_equal(thresholds[trial], best_threshold(human[:, again], first[:, again]))


def test_nobody_was_judged():
    nothing = np.full((3, 4), GAP)
    for statistic in SEGMENT_STATISTICS:
        assert math.isnan(statistic.value(nothing, nothing))
        assert statistic.counted(nothing, nothing) == 0
        assert len(statistic.values(nothing, nothing, once_each(4))) == 1
