"""Change points: found where there are some, by their promise where there are none."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.resampling.change_points import (
    ALPHA,
    FEWEST,
    LASTING,
    SMALLEST_ALPHA,
    _orders,
    find_change_points,
    shared_alpha,
)

scores = st.lists(st.integers(0, 6).map(float) | st.just(float("nan")), max_size=40).map(np.array)


def noise(runs: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(runs)


@given(scores, st.sampled_from([0.01, 0.2, 0.9]))
def test_changes_lie_inside_the_series_and_levels_last(values, alpha):
    """They are runs with a score, in order, with enough runs on each side; p-values keep the level."""
    steps = find_change_points(values, alpha)
    there = ~np.isnan(values)
    if there.sum() < FEWEST:
        assert not steps
    bounds = [0, *(step.at for step in steps), len(values)]
    for number, step in enumerate(steps):
        assert there[step.at]
        assert 0 < step.p < alpha
        assert step.before <= step.at
        assert step.after == bounds[number + 2]
        for first, last in ((step.before, step.at), (step.at, step.after)):
            assert there[first:last].sum() >= LASTING
    assert bounds == sorted(bounds)


@given(scores, st.floats(0.1, 10), st.floats(-10, 10))
def test_neither_scale_nor_direction_matters(values, scale, shift):
    """Scores on another scale, and upside down, change in the same runs."""
    once = [(step.at, step.p) for step in find_change_points(values, 0.2)]
    assert [(step.at, step.p) for step in find_change_points(-scale * values + shift, 0.2)] == once


@given(st.lists(st.integers(0, 6).map(float), min_size=1, max_size=40), st.data())
def test_missing_runs_change_nothing(values, data):
    """Runs without a score are as if they had not been."""
    places = data.draw(st.lists(st.integers(0, len(values)), max_size=6))
    with_gaps = np.insert(np.array(values), places, np.nan)
    positions = np.flatnonzero(~np.isnan(with_gaps))
    plain = [
        (int(positions[step.at]), int(positions[step.before]), step.p)
        for step in find_change_points(np.array(values), 0.2)
    ]
    assert [(step.at, step.before, step.p) for step in find_change_points(with_gaps, 0.2)] == plain


@pytest.mark.parametrize("gaps", [1, 3])
def test_levels_begin_and_end_where_runs_do_whatever_is_missing(gaps):
    """Runs without a score anywhere, at the end of the last level too."""
    values = noise(30, 3)
    values[12:21] -= 6
    plain = find_change_points(values)
    assert len(plain) == 2
    for place in range(len(values) + 1):
        found = find_change_points(np.insert(values, place, [np.nan] * gaps))
        moved = [each + gaps * (each >= place) for each in range(len(values))]
        for one, other in zip(plain, found, strict=True):
            assert (other.at, other.before, other.p) == (moved[one.at], moved[one.before], one.p)
            assert other.after == (moved[one.after] if one.after < len(values) else len(values) + gaps)


@pytest.mark.parametrize("level", [0.0, 31.4])
def test_a_constant_series_has_no_change(level):
    assert find_change_points(np.full(60, level), 0.99) == []


def test_few_runs_have_no_change():
    assert find_change_points(np.array([1.0] * 4 + [0.0] * 3), 0.99) == []
    assert find_change_points(np.array([1.0] * 4 + [0.0] * 4), 0.99)


def test_noise_seldom_has_a_change():
    """At alpha: of 300 series 15 are expected at 0.05; 30 would be by chance once in ten thousand times."""
    false = sum(bool(find_change_points(noise(30, seed), 0.05)) for seed in range(300))
    assert 0 < false < 30


def test_a_step_of_two_deviations_is_found_within_some_runs():
    """In most of 30 series after at most ten runs, near where it is."""
    found = 0
    for seed in range(30):
        values = noise(40, seed)
        values[30:] -= 2
        found += any(abs(step.at - 30) <= 3 for step in find_change_points(values))
    assert found >= 20


def test_a_slow_decline_is_found():
    """A tenth of a deviation each run, which no two runs show."""
    found = sum(bool(find_change_points(noise(40, seed) - 0.1 * np.arange(40))) for seed in range(20))
    assert found >= 18


@pytest.mark.parametrize("runs", [1, 3, 4, 5, 8, 13])
def test_orders_are_drawn_by_their_numbers_however_many_at_a_time(runs):
    whole = _orders(runs, 0, 40)
    assert (np.sort(whole, axis=1) == np.arange(runs)).all()
    for first, last in combinations(range(0, 41, 5), 2):
        assert (_orders(runs, first, last) == whole[first:last]).all()


def test_there_and_back_are_two_changes():
    values = noise(60, 3)
    values[25:40] -= 4
    first, second = find_change_points(values)
    assert abs(first.at - 25) <= 1
    assert abs(second.at - 40) <= 1
    assert (first.before, first.after, second.before, second.after) == (0, second.at, first.at, 60)


@pytest.mark.parametrize("place", [0, 5, 20, 38, 39])
def test_one_run_far_off_is_no_change(place):
    """And hides none: its distance does not count."""
    values = np.full(40, 30.0)
    values[place] = 0.0
    assert find_change_points(values) == []
    values = noise(40, 1)
    values[28:] += 3
    values[20] = -1e6
    assert [step.at for step in find_change_points(values)] == [28]


def test_the_same_on_every_machine():
    """Orders come from raw integers of the generator: this p-value may not change."""
    values = np.array(
        [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0, 1.0, 0.0, 2.0, 1.0, 3.0, 0.0, 1.0, 2.0]
    )
    assert [(step.at, step.p) for step in find_change_points(values, 0.1)] == [(12, 18 / 501)]


def test_the_level_is_shared_by_series_as_far_as_permutations_go():
    assert shared_alpha(0) == shared_alpha(1) == ALPHA
    assert shared_alpha(4) == ALPHA / 4
    assert shared_alpha(10_000) == SMALLEST_ALPHA
    assert shared_alpha(10_000, 1e-6) == 1e-6


@pytest.mark.parametrize("levels", [(0, 9, 20, 33), (33, 20, 9, 0), (0, 50, 40, 45), (10, 0, 30, 29), (0, 1, 0, 1)])
def test_every_step_of_a_staircase_is_found_where_it_is(levels):
    """Whichever of them is found first."""
    series = np.concatenate([level + 1e-3 * noise(12, seed) for seed, level in enumerate(levels)])
    assert [step.at for step in find_change_points(series, 0.01)] == [12, 24, 36]
