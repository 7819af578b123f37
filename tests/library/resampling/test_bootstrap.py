from __future__ import annotations

import os
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from sacrebleu.significance import _bootstrap_resample, estimate_ci

from steelyard.errors import TooLarge
from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.resampling.bootstrap import OffGrid, add_parts, drawn_segments, replicate_sums, sums_of_tables
from steelyard.resampling.interval import percentile_interval
from tests.library.campaigns import read_campaign


def exact_sums(counts, statistics):
    """The definition, in rational numbers."""
    rows = [[Fraction(value) for value in row] for row in statistics.tolist()]
    columns = list(zip(*rows, strict=True))
    return [
        [float(sum(map(Fraction.__mul__, column, map(Fraction, draw)))) for column in columns]
        for draw in counts.tolist()
    ]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_sums_are_exact(data):
    segments = data.draw(st.integers(1, 30))
    columns = data.draw(st.integers(1, 4))
    whole = st.integers(-(2**24), 2**24)
    tiny = whole.map(lambda step: step / 2**24)
    large = st.integers(-(2**40), 2**40)
    kinds = [data.draw(st.sampled_from([st.integers(0, 50), whole, tiny, large])) for _ in range(columns)]
    statistics = np.array([[data.draw(kind) for kind in kinds] for _ in range(segments)], np.float64)
    counts = resampling_counts(segments, data.draw(st.integers(0, 99)), 7, 0, segments)
    assert replicate_sums(counts, statistics).tolist() == exact_sums(counts, statistics)


def test_sums_of_numbers_of_every_size():
    rng = np.random.default_rng(3)
    segments = 2348
    statistics = np.stack(
        [
            rng.integers(-200, 200, segments),
            rng.integers(0, 2**30, segments),
            rng.integers(-(2**28), 2**28, segments) / 2**24,
            np.where(np.arange(segments) < 5, 2**20, 1),
        ],
        axis=1,
    ).astype(np.float64)
    counts = resampling_counts(segments, 1, 40, 0, segments)
    steps = (statistics * 2**24).astype(np.int64).astype(object)
    expected = (counts.astype(object) @ steps) / 2**24
    assert (replicate_sums(counts, statistics) == expected).all()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.float32])
def test_statistics_of_any_type(kind):
    low = 0 if np.dtype(kind).kind == "u" else -128
    statistics = np.random.default_rng(1).integers(low, 127, (300, 5), endpoint=True).astype(kind)
    statistics[0, 0] = low
    counts = resampling_counts(300, 8, 20, 0, 300)
    assert (replicate_sums(counts, statistics) == counts.astype(int) @ statistics.astype(int)).all()


def test_wide_counts():
    counts = np.array([[300, 70], [65_535, 0]], np.uint16)
    assert replicate_sums(counts, np.array([[2.0], [0.5]])).tolist() == [[635.0], [131_070.0]]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 12), max_size=5), st.integers(0, 2**64 - 1))
def test_any_cut_into_shards_gives_the_same_bits(cuts, seed):
    segments, replicates = 3000, 50
    rng = np.random.default_rng(5)
    statistics = np.concatenate(
        [rng.integers(0, 90, (segments, 3)), rng.integers(-(2**20), 2**30, (segments, 2)) / 2**24], axis=1
    )
    whole = replicate_sums(resampling_counts(segments, seed, replicates, 0, segments), statistics)
    edges = sorted({0, segments, *(min(cut * 256, segments) for cut in cuts)})
    parts = [
        replicate_sums(resampling_counts(segments, seed, replicates, first, last), statistics[first:last])
        for first, last in pairwise(edges)
    ]
    order = rng.permutation(len(parts))
    assert add_parts([parts[i] for i in order]).tobytes() == whole.tobytes()


def test_systems_together_or_apart_give_the_same_bits():
    rng = np.random.default_rng(5)
    statistics = rng.integers(0, 2**12, (2037, 40)).astype(np.float64)
    counts = resampling_counts(2037, 12345, 200, 0, 2037)
    together = replicate_sums(counts, statistics)
    apart = [replicate_sums(counts, statistics[:, i : i + 4]) for i in range(0, 40, 4)]
    assert np.concatenate(apart, axis=1).tobytes() == together.tobytes()


def test_limits_of_exactness():
    counts = np.array([[1, 1], [2, 0]], np.uint8)
    almost = np.array([[2.0**52 - 1], [0.0]])
    assert replicate_sums(counts, almost).tolist() == [[2.0**52 - 1], [2.0**53 - 2]]
    with pytest.raises(TooLarge, match=r"Column 0 .* beyond 2\^53, .* Split the test set"):
        replicate_sums(counts, almost + 1)
    with pytest.raises(TooLarge, match="Column 0"):
        replicate_sums(counts, -almost - 1)
    fine = np.array([[1.0, 2.0**28 - 1], [1.0, 2.0**-24]])
    assert replicate_sums(counts, fine).tolist() == [[2, 2.0**28 - 1 + 2.0**-24], [2, 2.0**29 - 2]]
    with pytest.raises(TooLarge, match=r"Column 1 .* 2\^53 steps of 2\^-24"):
        replicate_sums(counts, np.array([[1.0, 2.0**28], [1.0, 2.0**-24]]))
    with pytest.raises(TooLarge):
        replicate_sums(counts, np.array([[np.inf], [0.0]]))
    many = np.ones((1, 4096), np.uint8)
    assert replicate_sums(many, np.full((4096, 1), 2.0**41 - 1)).tolist() == [[2.0**53 - 4096]]
    with pytest.raises(TooLarge):
        replicate_sums(many, np.full((4096, 1), 2.0**41))


@pytest.mark.parametrize("value", [0.1, 2.0**-25, np.nan])
def test_numbers_off_the_grid_are_refused(value):
    with pytest.raises(OffGrid, match=r"Row 1, column 2 .* Round them"):
        replicate_sums(np.ones((1, 2), np.uint8), np.array([[1.0, 0.5, 1.0], [1.0, 0.5, value]]))


@pytest.mark.parametrize(
    ("table", "place", "column"), [(0, (0, 1, 1), 1), (0, (1, 1, 0), 2), (1, (0, 1, 0), 4), (1, (0, 1, 2), 6)]
)
def test_of_several_tables_the_value_off_the_grid_is_reported(table, place, column):
    tables = [np.ones((2, 2, 2)), np.ones((1, 2, 3))]
    tables[table][place] = 0.3
    with pytest.raises(OffGrid, match=rf"^Row 1, column {column} of the statistics is 0\.3:"):
        sums_of_tables(np.ones((1, 2), np.uint8), tables)


def test_parts_that_would_not_add_exactly():
    assert add_parts([np.array([[2.0**52]]), np.array([[-(2.0**51)]])]).tolist() == [[2.0**51]]
    with pytest.raises(TooLarge, match="the sum over the shards"):
        add_parts([np.array([[2.0**52]]), np.array([[2.0**52]])])
    with pytest.raises(TooLarge, match="the sum over the shards"):
        add_parts([np.array([[2.0**52]]), np.array([[-(2.0**52)]])])
    with pytest.raises(TooLarge, match=r"2\^-24"):
        add_parts([np.array([[2.0**29]]), np.array([[0.5]])])
    with pytest.raises(OffGrid):
        add_parts([np.array([[0.3]])])


def test_nothing_to_sum():
    assert replicate_sums(np.zeros((3, 0), np.uint8), np.zeros((0, 2))).tolist() == [[0, 0]] * 3
    assert replicate_sums(np.zeros((0, 4), np.uint8), np.zeros((4, 2))).shape == (0, 2)
    assert replicate_sums(np.ones((2, 4), np.uint8), np.zeros((4, 0))).shape == (2, 0)


def test_draws_are_made_once():
    first = drawn_segments(700, 77, 30, 256, 700)
    assert drawn_segments(700, 77, 30, 256, 700) is first
    assert drawn_segments(700, 78, 30, 256, 700) is not first
    for seed in (77, 78, 77 + 2**32):
        expected = resampling_counts(700, seed, 30, 256, 700)
        assert drawn_segments(700, seed, 30, 256, 700).tolist() == expected.tolist()


def test_more_draws_than_32_bits_hold():
    """More than 2^22 draws of a row, here 2 x 65,535 x 64."""
    counts = np.full((2, 129), 65_535, np.uint16)
    counts[1] = 1
    statistics = np.stack([np.arange(129) % 64 + 960, np.full(129, 7), np.full(129, -0.5)], axis=1)
    assert (replicate_sums(counts, statistics) == counts.astype(float) @ statistics).all()


def test_a_run_of_the_largest_counts():
    counts, statistics = np.full((1, 64), 65_535, np.uint16), np.full((64, 2), 1023.0)
    statistics[0] = 0
    assert (replicate_sums(counts, statistics) == 63.0 * 65_535 * 1023).all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_columns_that_are_alike(data):
    """Columns that differ by a constant, at every grid."""
    segments = data.draw(st.integers(1, 70))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    own = rng.integers(0, 3, (segments, 2)) * data.draw(st.sampled_from([1.0, 2.0**-24, 2.0**27, 2.0**29, 2.0**44]))
    steps = st.sampled_from([0.0, 1.0, -5.0, 0.5, 2.0**-24, 2.0**20])
    columns = [own[:, data.draw(st.integers(0, 1))] + data.draw(steps) for _ in range(data.draw(st.integers(1, 6)))]
    columns[0][data.draw(st.integers(0, segments - 1))] += 1
    statistics = np.stack(columns, axis=1)
    counts = resampling_counts(segments, 3, 5, 0, segments)
    try:
        assert replicate_sums(counts, statistics).tolist() == exact_sums(counts, statistics)
    except (OffGrid, TooLarge):
        steps = statistics * (2.0**24 if (np.rint(statistics) != statistics).any() else 1)
        assert (np.rint(steps) != steps).any() or np.abs(steps).max() * segments >= 2**53


def test_several_tables_at_once():
    rng = np.random.default_rng(4)
    counts = resampling_counts(300, 8, 20, 0, 300)
    whole = rng.integers(0, 3000, (3, 600, 7)).astype(float)
    tables = [whole[:, 100:400], rng.random((0, 300, 2)), whole[:2, 300:, 1:5], rng.random((2, 300, 0))]
    tables = [*tables, np.asfortranarray(whole[:, :300]), whole[:, :300].astype(np.int32)]
    for found, table in zip(sums_of_tables(counts, tables), tables, strict=True):
        assert found.tolist() == np.matmul(counts.astype(float), table).tolist()
        assert found.flags.c_contiguous


def test_intervals_are_as_wide_as_those_of_sacrebleu(real_data, monkeypatch):
    """Half the width of our interval against sacreBLEU's `ci`, averaged over 12 seeds of 1,000 replicates."""
    campaign = read_campaign(real_data / "wmt22.en-cs")
    metric = BLEU()
    hypotheses, reference = campaign.systems["Online-B"][:300], campaign.references["B"][:300]
    rows = metric._extract_corpus_statistics(hypotheses, [reference])
    statistics = np.array(rows, np.float64)
    ours, theirs = [], []
    for seed in range(12):
        counts = resampling_counts(300, seed, 1000, 0, 300)
        sums = replicate_sums(counts, statistics)
        scores = np.array([metric._compute_score_from_stats(each).score for each in sums.tolist()])
        low, high = percentile_interval(scores, 0.95)
        assert (high - low) / 2 == pytest.approx(estimate_ci(scores)[1], rel=1e-12)
        ours.append(((high - low) / 2, scores.mean(), scores.std()))
        monkeypatch.setitem(os.environ, "SACREBLEU_SEED", str(seed))
        resampled = _bootstrap_resample(rows, metric, 1000)[1]
        scores = np.array([each.score for each in resampled])
        theirs.append((estimate_ci(scores)[1], scores.mean(), scores.std()))
    error = np.sqrt((np.var(ours, axis=0, ddof=1) + np.var(theirs, axis=0, ddof=1)) / 12)
    difference = np.mean(ours, axis=0) - np.mean(theirs, axis=0)
    assert (np.abs(difference) < 4 * error).all()
    # So that the comparison says something: the error is a small part of the width.
    assert error[0] < 0.03 * np.mean(theirs, axis=0)[0]
