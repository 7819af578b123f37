"""What is said of correlations with people, of boards made by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from analysis.meta_evaluation.correlation_json import correlation_object
from analysis.meta_evaluation.correlation_text import explanations
from steelyard.meta_evaluation.correlation import CorrelationOptions, correlate_segments, correlate_systems
from steelyard.tables.correlation import difference_table, verdict
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
    missing = replace(judged.metrics[0], systems=np.where(np.arange(SYSTEMS) < 3, math.nan, judged.metrics[0].systems))
    table = correlate_systems(
        replace(judged, metrics=[missing, *judged.metrics[1:]]), ["pearson"], CorrelationOptions(trials=0)
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


@pytest.mark.parametrize("correction", ["none", "holm"])
@pytest.mark.parametrize("statistic", ["pearson", "kendall"])
def test_the_table_of_tests_has_a_column_for_each_p(judged, statistic, correction):
    """Williams' test is for Pearson's correlation alone."""
    table = correlate_systems(judged, [statistic], CorrelationOptions(trials=60, correction=correction))
    corrected = correction != "none"
    columns = ["metric", "difference", "p", *(["p_corrected"] if corrected else [])]
    if statistic == "pearson":
        columns += ["williams_p", *(["williams_p_corrected"] if corrected else [])]
    shown = difference_table(table, 3, "h")
    assert [column.key for column in shown.columns] == [*columns, "direction"]
    tested = [(row, row.test) for row in table.rows if row.test]
    assert len(shown.rows) == len(tested) == 2
    for cells, (row, test) in zip(shown.rows, tested, strict=True):
        by_key = dict(zip(columns, cells, strict=False))
        assert by_key.pop("difference").value == -test.difference
        expected = {
            "metric": row.metric.title, "p": test.p, "p_corrected": test.p_corrected,
            "williams_p": test.williams, "williams_p_corrected": test.williams_corrected,
        }  # fmt: skip
        assert by_key == {key: expected[key] for key in by_key}
        assert cells[-1] == verdict(test)


def test_each_reason_to_leave_out_a_system_has_its_own_list(judged):
    matched = replace(judged.matched, references=("HUMAN-A",), unknown=("stranger",), not_judged=("late", "quiet"))
    board = replace(judged.board, without=("own",))
    table = correlate_systems(
        replace(judged, matched=matched, board=board, unscored=("slow",)), ["kendall"], CorrelationOptions(trials=0)
    )
    assert correlation_object(table)["left_out"] == {
        "human_translations": ["HUMAN-A"], "unknown": ["stranger"], "not_judged": ["late", "quiet"],
        "as_asked": ["own"], "not_scored": ["slow"],
    }  # fmt: skip
