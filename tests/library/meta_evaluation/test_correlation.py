"""Correlations of scores made by hand: what each statistic rests on, and its test."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.meta_evaluation.comparison import permutation_p, williams_p
from steelyard.meta_evaluation.correlation import (
    SEGMENT_TRIALS,
    SYSTEM_TRIALS,
    CorrelationOptions,
    correlate_segments,
    correlate_systems,
)
from steelyard.meta_evaluation.statistics import SEGMENT_STATISTICS, segment_statistic, system_statistic
from steelyard.meta_evaluation.system import better_or_equal_share, pearson
from steelyard.resampling.interval import percentile_interval
from tests.library.meta_evaluation.judged_scores import made_scores

SYSTEMS, SEGMENTS, REPLICATES = 6, 40, 40


@pytest.fixture
def judged():
    """Good, middling and bad metrics; a fifth of the cells are not judged."""
    draw = np.random.default_rng(4)
    people = draw.normal(size=(SYSTEMS, SEGMENTS)) + np.linspace(0, 1, SYSTEMS)[::-1, None]
    metrics = {
        name: people + noise * draw.normal(size=people.shape)
        for name, noise in (("bad", 9.0), ("good", 0.2), ("middling", 2.0))
    }
    people[draw.random(people.shape) < 0.2] = math.nan
    return made_scores(people, metrics, replicates=REPLICATES)


def only_agreement(table, row=0):
    (found,) = table.rows[row].agreements
    return found


def test_rows_are_in_the_order_of_the_first_statistic_and_tested_against_the_best(judged):
    table = correlate_systems(judged, ["pearson", "kendall"], CorrelationOptions(trials=60))
    assert [row.metric.specification for row in table.rows] == ["good", "middling", "bad"]
    assert [row.rank for row in table.rows] == [1, 2, 3]
    assert (table.baseline.specification, table.trials, table.rows[0].test) == ("good", 60, None)
    good, middling, bad = (judged.metrics[number].systems for number in (1, 2, 0))
    human = judged.human_systems
    for row, other in zip(table.rows[1:], (middling, bad), strict=True):
        best, own = table.rows[0].agreements[0], row.agreements[0]
        assert row.test.difference == best.value - own.value
        assert row.test.interval == percentile_interval(best.replicates - own.replicates, 0.95)
        assert row.test.p == permutation_p(lambda stack: pearson(human, stack), good, other, seed=7, trials=60)
        between = [float(pearson(*two)) for two in ((human, good), (human, other), (good, other))]
        assert row.test.williams == williams_p(*between, SYSTEMS)
    # Holm's correction of two.
    by_p = sorted((row.test for row in table.rows[1:]), key=lambda test: test.williams)
    assert by_p[0].williams_corrected == min(1, 2 * by_p[0].williams)
    assert table.tested
    only_kendall = correlate_systems(judged, ["kendall"], CorrelationOptions(trials=60))
    assert all(math.isnan(row.test.williams) and row.test.p > 0 for row in only_kendall.rows[1:])
    assert not correlate_systems(judged, ["soft-pairwise"], CorrelationOptions(trials=60)).tested


@pytest.mark.parametrize("name", [each.name for each in SEGMENT_STATISTICS])
def test_a_statistic_and_its_test_take_either_raw_scores_or_standardised_ones(judged, name):
    """Other scores of the other kind change nothing, nor does what is told of them."""
    draw = np.random.default_rng(9)
    known = ~np.isnan(judged.human_segments)
    raw, other = (np.where(known, 50 + 30 * draw.normal(size=known.shape), math.nan) for _ in range(2))
    given = replace(judged, human_raw=raw)
    options = CorrelationOptions(trials=30, replicates=20)
    on_raw = segment_statistic(name).on_raw

    def told(scores):
        rows = correlate_segments(scores, [name], options).rows
        return [(row.metric.specification, row.agreements[0].value, row.test and row.test.p) for row in rows]

    changed = {field: told(replace(given, **{field: other})) for field in ("human_raw", "human_segments")}
    assert changed["human_segments" if on_raw else "human_raw"] == told(given)
    assert changed["human_raw" if on_raw else "human_segments"] != told(given)
    assert on_raw == (told(replace(judged, human_segments=raw, human_raw=raw)) == told(given))


def test_how_many_trials_there_are_where_nothing_is_said(judged):
    asked = CorrelationOptions(replicates=0)
    assert correlate_systems(judged, ["pearson"], asked).trials == SYSTEM_TRIALS == 10_000
    assert correlate_segments(judged, ["pearson"], asked).trials == SEGMENT_TRIALS == 1_000


def test_without_trials_or_a_second_metric_there_are_no_tests(judged):
    table = correlate_systems(judged, ["pearson"], CorrelationOptions(trials=0))
    assert (table.baseline, table.trials, table.tested) == (None, 0, False)
    alone = correlate_systems(replace(judged, metrics=judged.metrics[:1]), ["pearson"], CorrelationOptions(trials=60))
    assert (alone.baseline, alone.trials, [row.test for row in alone.rows]) == (None, 0, [None])
    # A baseline that the statistic is undefined for is none.
    unknown = replace(judged.metrics[0], systems=np.full(SYSTEMS, math.nan))
    table = correlate_systems(
        replace(judged, metrics=[unknown, *judged.metrics[1:]]), ["pearson"], CorrelationOptions(trials=60, baseline=0)
    )
    assert [row.rank for row in table.rows] == [1, 2, None]
    assert (table.baseline, table.trials) == (None, 0)


def test_a_metric_without_scores_of_a_system_is_tested_on_the_others(judged):
    bad, good, middling = judged.metrics
    missing = replace(middling, systems=np.where(np.arange(SYSTEMS) == 2, math.nan, middling.systems))
    table = correlate_systems(replace(judged, metrics=[bad, good, missing]), ["pearson"], CorrelationOptions(trials=60))
    (row,) = [row for row in table.rows if row.metric is missing]
    there = np.arange(SYSTEMS) != 2
    human = judged.human_systems[there]
    assert row.agreements[0].counted == SYSTEMS - 1
    assert row.agreements[0].value == float(pearson(human, missing.systems[there]))
    expected = permutation_p(
        lambda stack: pearson(human, stack), good.systems[there], missing.systems[there], seed=7, trials=60
    )
    assert row.test.p == expected
    for backwards in ([missing, good, bad], [missing, bad, good]):
        table = correlate_systems(
            replace(judged, metrics=backwards), ["pearson"], CorrelationOptions(trials=60, baseline=0)
        )
        assert [row.test.p for row in table.rows if row.metric is good] == [expected]


def test_shares_of_comparisons_draw_systems(judged):
    table = correlate_systems(judged, ["spearman-share"], CorrelationOptions(trials=60))
    shares = better_or_equal_share(judged.human_segments)
    for row in table.rows:
        (found,) = row.agreements
        assert found.value == pytest.approx(stats.spearmanr(shares, row.metric.systems).statistic)
        assert (found.resampled, len(found.replicates)) == ("systems", REPLICATES)
    statistic = system_statistic("spearman-share")
    best, other = (row.metric.systems for row in table.rows[:2])
    expected = permutation_p(lambda stack: statistic.values(shares, stack), best, other, seed=7, trials=60)
    assert table.rows[1].test.p == expected


@pytest.mark.parametrize(("stored", "asked", "expected"), [(40, None, 40), (40, 10, 10), (0, None, 1000), (40, 0, 0)])
def test_how_many_replicates_there_are(judged, stored, asked, expected):
    judged = replace(judged, replicates=stored)
    if not stored:
        judged = replace(judged, metrics=[replace(each, replicates=np.zeros((0, SYSTEMS))) for each in judged.metrics])
    found = only_agreement(correlate_segments(judged, ["pearson"], CorrelationOptions(asked, trials=0)))
    assert (len(found.replicates), found.resampled) == (expected, "segments" if expected else "")
    assert (found.interval is None) == (not expected)
    found = only_agreement(correlate_systems(judged, ["pearson"], CorrelationOptions(asked, trials=0)))
    assert len(found.replicates) == expected
    assert found.resampled == ("" if not expected else "segments" if stored else "systems")


def test_scores_of_systems_that_are_not_their_segments_means_draw_systems(judged):
    for apart, resampled in ((0.9e-5, "segments"), (1.1e-5, "systems")):
        moved = judged.human_systems + apart * (np.arange(SYSTEMS) == 3)
        table = correlate_systems(replace(judged, human_systems=moved), ["pearson"], CorrelationOptions(trials=0))
        assert only_agreement(table).resampled == resampled
    # Of a system without a score nothing is asked.
    unknown = np.where(np.arange(SYSTEMS) == 3, math.nan, judged.human_systems)
    table = correlate_systems(replace(judged, human_systems=unknown), ["pearson"], CorrelationOptions(trials=0))
    assert (only_agreement(table).resampled, only_agreement(table).counted) == ("segments", SYSTEMS - 1)


def test_segments_and_what_is_asked_of_raw_scores(judged):
    raw = np.where(np.isnan(judged.human_segments), math.nan, 50 + 30 * judged.human_segments[::-1])
    judged = replace(judged, human_raw=raw)
    names = ["kendall-wmt14", "kendall-da"]
    table = correlate_segments(judged, names, CorrelationOptions(trials=30, level=0.8))
    counts = resampling_counts(SEGMENTS, 7, REPLICATES, 0, SEGMENTS)
    for row in table.rows:
        for name, human, found in zip(names, (judged.human_segments, raw), row.agreements, strict=True):
            statistic = segment_statistic(name)
            assert found.value == statistic.value(human, row.metric.segments)
            assert found.counted == statistic.counted(human, row.metric.segments)
            np.testing.assert_array_equal(found.replicates, statistic.values(human, row.metric.segments, counts))
            assert found.interval == percentile_interval(found.replicates, 0.8)
    statistic, human = segment_statistic("kendall-wmt14"), judged.human_segments
    first, second = (np.where(np.isnan(human), math.nan, row.metric.segments) for row in table.rows[:2])

    def one_by_one(stack):
        return np.array([statistic.value(human, each) for each in stack])

    assert table.rows[1].test.p == permutation_p(one_by_one, first, second, seed=7, trials=30)


def test_soft_accuracy_is_of_the_segments_that_both_sides_judge(judged):
    table = correlate_systems(judged, ["soft-pairwise"], CorrelationOptions(trials=0))
    assert {found.agreements[0].counted for found in table.rows} == {SYSTEMS * (SYSTEMS - 1) // 2}
    assert {found.agreements[0].unit for found in table.rows} == {"pairs"}
    assert all(0.5 < row.agreements[0].value < 1 for row in table.rows[:1])


def test_what_people_have_not_judged_does_not_count_in_tests(judged):
    draw = np.random.default_rng(11)
    people = np.where(draw.random((SYSTEMS, SEGMENTS)) < 0.4, math.nan, draw.normal(size=(SYSTEMS, SEGMENTS)))
    metrics = {name: np.nan_to_num(people) + draw.normal(size=people.shape) for name in ("one", "other")}
    wild = {
        name: np.where(np.isnan(people), 50 * draw.normal(size=people.shape), each) for name, each in metrics.items()
    }
    asked = CorrelationOptions(replicates=0, trials=300)
    for name in ("pearson", "kendall-wmt14"):
        tables = [correlate_segments(made_scores(people, each), [name], asked) for each in (metrics, wild)]
        first, second = ([(row.metric.specification, row.rank) for row in table.rows] for table in tables)
        assert first == second
        tests = [table.rows[1].test for table in tables]
        assert (tests[0].p, tests[0].difference) == (tests[1].p, tests[1].difference)
        assert 0.02 < tables[0].rows[1].test.p < 0.98


def test_intervals_have_the_level_and_pairs_are_counted(judged):
    names = ["pearson", "pairwise", "soft-pairwise", "spearman-share"]
    for level in (0.5, 0.95):
        table = correlate_systems(judged, names, CorrelationOptions(level=level, trials=60))
        for row in table.rows:
            for found in row.agreements:
                assert found.interval == percentile_interval(found.replicates, level)
            assert [found.counted for found in row.agreements] == [SYSTEMS, 15, 15, SYSTEMS]
            assert [found.unit for found in row.agreements] == ["systems", "pairs", "pairs", "systems"]
        best = table.rows[0].agreements[0].replicates
        for row in table.rows[1:]:
            apart = best - row.agreements[0].replicates
            assert row.test.interval == percentile_interval(apart, level)
