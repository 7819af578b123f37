"""Agreement with people, of boards made by hand: what each statistic rests on, its test, and what is said of it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.meta_evaluation.correlation import CorrelationOptions, correlate_segments, correlate_systems
from analysis.meta_evaluation.correlation_json import correlation_object
from analysis.meta_evaluation.correlation_text import explanations
from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.meta_evaluation.comparison import permutation_p, williams_p
from steelyard.meta_evaluation.statistics import segment_statistic, system_statistic
from steelyard.meta_evaluation.system import better_or_equal_share, pearson
from steelyard.resampling.interval import percentile_interval
from tests.analysis.judged import made_judged

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
    return made_judged(people, metrics, replicates=REPLICATES)


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


def test_a_metric_that_lacks_a_system_is_tested_on_the_others(judged):
    bad, good, middling = judged.metrics
    lacking = replace(middling, systems=np.where(np.arange(SYSTEMS) == 2, math.nan, middling.systems))
    table = correlate_systems(replace(judged, metrics=[bad, good, lacking]), ["pearson"], CorrelationOptions(trials=60))
    (row,) = [row for row in table.rows if row.metric is lacking]
    there = np.arange(SYSTEMS) != 2
    human = judged.human_systems[there]
    assert row.agreements[0].counted == SYSTEMS - 1
    assert row.agreements[0].value == float(pearson(human, lacking.systems[there]))
    expected = permutation_p(
        lambda stack: pearson(human, stack), good.systems[there], lacking.systems[there], seed=7, trials=60
    )
    assert row.test.p == expected
    for backwards in ([lacking, good, bad], [lacking, bad, good]):
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
    judged = replace(judged, board=replace(judged.board, listed=replace(judged.board.listed, replicates=stored)))
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


# What is said of it.


def said(table, beginning):
    found = [sentence for sentence in explanations(table) if sentence.startswith(beginning)]
    assert len(found) <= 1
    return found[0] if found else None


def test_how_it_was_found(judged):
    table = correlate_systems(judged, ["pearson", "soft-pairwise"], CorrelationOptions(trials=60))
    assert explanations(table) == [
        "6 systems judged and scored. Counted: 6 systems (Pearson); 15 pairs (Soft pairwise acc.).",
        "95 % intervals: percentiles of 40 replicates that draw segments (Pearson), and of 40 replicates that draw "
        "systems (Soft pairwise acc.); seed 7.",
        "p: permutation of the two metrics' scores (60 trials, seed 7), two-sided, corrected by Holm for 2 tests; * "
        "corrected p below 0.05.",
        "CAUTION: 6 systems are few. Correlations of so few change much from one set of systems to another: read the "
        "intervals, not the ranks.",
    ]


def test_what_may_be_said_otherwise(judged):
    turned = replace(judged, metrics=[replace(judged.metrics[0], higher_is_better=False), *judged.metrics[1:]])
    table = correlate_systems(turned, ["pearson"], CorrelationOptions(0, trials=64, correction="none"))
    assert said(table, "Less is better") == "Less is better by BAD: the scores were negated."
    assert said(table, "95 %") is None
    assert said(table, "p:") == (
        "p: permutation of the two metrics' scores (all 64 ways), two-sided, not corrected; * p below 0.05."
    )
    table = correlate_systems(judged, ["pearson"], CorrelationOptions(trials=63))
    assert "(63 trials, seed 7)" in said(table, "p:")
    few = correlate_segments(judged, ["pearson"], CorrelationOptions(trials=39))
    assert said(few, "Note:") == "Note: 39 trials cannot give a corrected p below 0.05: use more."
    assert said(correlate_segments(judged, ["pearson"], CorrelationOptions(trials=40)), "Note:") is None
    assert (
        said(correlate_segments(judged, ["pearson"], CorrelationOptions(trials=39, correction="bh")), "Note:") is None
    )
    assert (
        said(correlate_segments(judged, ["pearson"], CorrelationOptions(trials=19, correction="none")), "Note:")
        is not None
    )
    assert said(correlate_segments(judged, ["pearson"], CorrelationOptions(trials=5)), "CAUTION") is None


@pytest.mark.parametrize(("systems", "cautious"), [(1, False), (2, True), (19, True), (20, False)])
def test_few_systems_are_a_caution(systems, cautious):
    people = np.random.default_rng(1).normal(size=(systems, 5))
    table = correlate_systems(made_judged(people, {"good": people}), ["pearson"], CorrelationOptions(trials=0))
    assert (said(table, "CAUTION") is not None) == cautious
    assert said(table, f"{systems} system{'s'[: systems != 1]} judged") is not None


def test_what_was_left_out_and_what_is_undefined(judged):
    matched = replace(judged.matched, references=("HUMAN-A",), unknown=("stranger", "who"), not_judged=("late",))
    told = replace(judged, matched=matched, unscored=("slow",), board=replace(judged.board, without=("own",)))
    assert [
        each for each in explanations(correlate_systems(told, ["pearson"], CorrelationOptions())) if "Left out" in each
    ] == [
        "Left out, as asked: own.",
        "Left out, human translations: HUMAN-A.",
        "Left out, judged, but not on this leaderboard: stranger, who.",
        "Left out, not judged: late.",
        "Left out, judged, but not scored (yet): slow.",
    ]
    hidden = " ".join(explanations(correlate_systems(told, ["pearson"], CorrelationOptions()), name_systems=False))
    assert not [name for name in ("HUMAN-A", "stranger", "Left out") if name in hidden]
    of_systems = replace(judged, human_segments=np.full((SYSTEMS, SEGMENTS), math.nan))
    table = correlate_systems(of_systems, ["pearson", "soft-pairwise"], CorrelationOptions(trials=0))
    assert said(table, "Not defined") == "Not defined here: Soft pairwise acc. (no scores of segments)."
    constant = [replace(each, systems=np.ones(SYSTEMS)) for each in judged.metrics]
    table = correlate_systems(replace(judged, metrics=constant), ["pearson", "pairwise"], CorrelationOptions(trials=0))
    assert said(table, "Not defined") == "Not defined here: Pearson."
    table = correlate_segments(of_systems, ["acc", "kendall-wmt14"], CorrelationOptions(trials=0))
    assert said(table, "Not defined") == "Not defined here: acc, Kendall WMT14 (no segment with two judged systems)."
    table = correlate_segments(of_systems, ["acc", "pearson"], CorrelationOptions(trials=0))
    assert said(table, "Not defined") == "Not defined here: acc, Pearson."
    assert explanations(table)[0] == "6 systems judged and scored."


def test_counts_that_differ_are_a_span(judged):
    lacking = replace(judged.metrics[0], systems=np.where(np.arange(SYSTEMS) < 3, math.nan, judged.metrics[0].systems))
    table = correlate_systems(
        replace(judged, metrics=[lacking, *judged.metrics[1:]]), ["pearson"], CorrelationOptions(trials=0)
    )
    assert explanations(table)[0] == "6 systems judged and scored. Counted: 3 to 6 systems (Pearson)."
    two = made_judged(np.array([[1.0, 2.0], [2.0, 4.0]]), {"good": np.array([[1.0, 2.0], [2.0, 4.0]])})
    assert (
        "Counted: 1 pair (Pairwise acc.)"
        in explanations(correlate_systems(two, ["pairwise"], CorrelationOptions(trials=0)))[0]
    )


def test_as_an_object(judged):
    judged = replace(judged, unscored=("slow",), board=replace(judged.board, without=("own",)))
    table = correlate_systems(judged, ["pearson"], CorrelationOptions(trials=60, level=0.9, correction="bh"))
    found = correlation_object(table)
    assert (found["campaign"], found["test_set"], found["version"], found["references"]) == ("port", "port", "1", ["A"])
    assert (found["level"], found["seed"], found["systems"], found["baseline"]) == ("system", 7, list("abcdef"), "good")
    assert found["human"] == {"name": "da", "version": 1, "kind": "scores", "method": {}}
    assert (found["left_out"]["as_asked"], found["left_out"]["not_scored"]) == (["own"], ["slow"])
    for row, shown in zip(table.rows, found["metrics"], strict=True):
        (agreement,) = row.agreements
        assert (shown["metric"], shown["title"], shown["rank"]) == (
            row.metric.specification,
            row.metric.title,
            row.rank,
        )
        low, high = agreement.interval
        interval = {"level": 0.9, "low": low, "high": high, "n": REPLICATES, "resampled": "segments"}
        assert shown["statistics"] == [
            {"statistic": "pearson", "value": agreement.value, "n": 6, "unit": "systems", "interval": interval}
        ]
        if row.test is None:
            assert shown["test"] is None
            continue
        low, high = row.test.interval
        assert shown["test"] == {
            "against": "good", "statistic": "pearson", "difference": -row.test.difference,
            "interval": {"level": 0.9, "low": -high, "high": -low}, "trials": 60, "p": row.test.p,
            "p_corrected": row.test.p_corrected, "correction": "bh", "williams_p": row.test.williams,
            "williams_p_corrected": row.test.williams_corrected,
        }  # fmt: skip
    bare = correlation_object(correlate_systems(judged, ["kendall"], CorrelationOptions(0, trials=60)))
    assert bare["metrics"][0]["statistics"][0]["interval"] is None
    assert bare["metrics"][1]["test"]["interval"] is bare["metrics"][1]["test"]["williams_p"] is None
