"""What is said of a verdict, its order and what it counts, of verdicts made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.nightly.regression import RegressionFinding, Subject
from analysis.nightly.series import Change, Point, ScoreSeries
from analysis.nightly.text import baseline_of, how_tested, level_of, place_of, severity_key, summary
from analysis.nightly.verdict import Verdict, describe_baseline
from models.nightly.schedules import Baseline
from models.schema.states import BaselineKind
from steelyard.resampling.change_points import FEWEST
from steelyard.resampling.regression import Outcome

SUBJECT = Subject("tug", "port", ("A",), "bleu")
PLAIN = Verdict("the same system in the previous run", "bootstrap", 1000, 0.05, "holm", 0.0, (), ())
CHANGE = Change(
    subject=SUBJECT, title="BLEU", since="2027-03-04", until="2027-03-09", runs_before=3, runs_after=6, before=30.0,
    after=29.0, interval=(-1.5, -0.5), p=0.001, p_segments=0.002, worse=True, counts=True, new=True,
)  # fmt: skip


def finding(
    outcome: Outcome, p: float | None = 0.5, difference: float | None = -1.0, **others: object
) -> RegressionFinding:
    return replace(
        RegressionFinding(SUBJECT, "BLEU", "s", True, 100.0, 30.0, outcome, difference=difference, p=p, p_corrected=p),
        **others,
    )


def verdict(*outcomes: Outcome, changes: tuple[Change, ...] = (), **others: object) -> Verdict:
    return replace(PLAIN, findings=tuple(finding(each) for each in outcomes), changes=changes, **others)


@pytest.mark.parametrize(
    ("outcomes", "changes", "expected"),
    [
        ([], 0, "no regression in 0 scores."),
        ([Outcome.OPEN], 0, "no regression in 1 score."),
        ([Outcome.OPEN, Outcome.BETTER], 0, "no regression in 2 scores; 1 score better."),
        ([Outcome.WORSE, Outcome.BETTER], 0, "1 regression in 2 scores."),
        (
            [Outcome.WORSE, Outcome.NO_SCORE],
            2,
            "2 regressions in 2 scores and 2 new changes for the worse over time.",
        ),
        ([Outcome.OPEN], 1, "1 new change for the worse over time."),
    ],
)
def test_a_run_in_a_line(outcomes: list[Outcome], changes: int, expected: str) -> None:
    of_run = verdict(*outcomes, changes=(CHANGE,) * changes)
    assert summary(of_run) == expected
    assert of_run.regressed == ("no regression" not in expected)


def test_changes_that_fail_no_run() -> None:
    for told in ({"worse": False}, {"counts": False}, {"new": False}):
        harmless = replace(CHANGE, **told)
        assert not harmless.regressed
        assert summary(verdict(Outcome.OPEN, changes=(harmless,))) == "no regression in 1 score."
    assert CHANGE.regressed
    assert CHANGE.difference == -1.0


def test_which_findings_are_tests() -> None:
    """Those with a p-value, but for the very same output."""
    found = (finding(Outcome.OPEN), finding(Outcome.SAME_OUTPUT, 1.0), finding(Outcome.NO_BASELINE, None))
    assert replace(PLAIN, findings=found).tests == 1


def test_how_it_was_tested() -> None:
    assert how_tested(PLAIN) == "Compared with the same system in the previous run: there was nothing to test."
    assert how_tested(verdict(Outcome.OPEN)) == (
        "Compared with the same system in the previous run: paired bootstrap with 1,000 replicates, two-sided, "
        "p corrected by Holm for 1 test; worse or better below 0.05."
    )
    by_trials = verdict(Outcome.OPEN, Outcome.WORSE, test="randomization", correction="none", minimum_difference=0.5)
    assert how_tested(by_trials) == (
        "Compared with the same system in the previous run: paired approximate randomization with 1,000 trials, "
        "two-sided, p not corrected for 2 tests; worse or better below 0.05, by at least 0.5."
    )


@pytest.mark.parametrize(
    ("worse", "counts", "new", "expected"),
    [
        (True, True, True, "worse, new"),
        (False, True, False, "better"),
        (True, False, True, "worse, too little to count"),
        (False, False, False, "better, too little to count"),
    ],
)
def test_levels(worse: bool, counts: bool, new: bool, expected: str) -> None:
    assert level_of(replace(CHANGE, worse=worse, counts=counts, new=new)) == expected


def test_places_and_baselines() -> None:
    assert place_of(Subject("tug", "port", ("A", "B"), "bleu")) == "port (A+B)"
    other = finding(Outcome.OPEN, baseline_system="raft", baseline_date="2027-03-01")
    assert baseline_of(other) == "raft, 2027-03-01"
    assert baseline_of(replace(other, baseline_system="tug")) == "2027-03-01"
    assert baseline_of(replace(other, baseline_date=None)) == "raft"


def test_the_worst_comes_first() -> None:
    ordered = [
        finding(Outcome.WORSE, 0.001, 0.1),
        finding(Outcome.WORSE, 0.01, -3.0),
        finding(Outcome.WORSE, 0.01, 2.0),
        finding(Outcome.WORSE, 0.01, None),
        finding(Outcome.NO_SCORE, None, None),
        finding(Outcome.OPEN, 0.1, 9.0),
        finding(Outcome.OPEN, None, 9.0),
    ]
    backwards = ordered[::-1]
    assert sorted(backwards, key=severity_key) == ordered


@pytest.mark.parametrize(
    ("baseline", "expected"),
    [
        (Baseline(BaselineKind.PREVIOUS), "the same system in the previous run"),
        (Baseline(BaselineKind.BEST), "the same system in its best run so far"),
        (Baseline(BaselineKind.NAMED, "raft"), "system raft"),
        (Baseline(BaselineKind.NAMED, "raft", "2027-03-01"), "system raft in the run of 2027-03-01"),
        (Baseline(BaselineKind.NAMED, None, "2027-03-01"), "the same system in the run of 2027-03-01"),
    ],
)
def test_baselines_in_words(baseline: Baseline, expected: str) -> None:
    assert describe_baseline(baseline) == expected


def test_series_of_too_few_runs() -> None:
    points = tuple(Point(f"2027-03-{day:02}", 30.0 if day > 2 else None) for day in range(1, FEWEST + 2))
    series = ScoreSeries(SUBJECT, "BLEU", "s", True, points, (CHANGE,))
    assert series.too_few
    assert not replace(series, points=(*points, Point("2027-04-01", 31.0, (30.0, 32.0)))).too_few
    shown = series.as_json()
    assert shown["points"][:3:2] == [
        {"date": "2027-03-01", "score": None, "interval": None},
        {"date": "2027-03-03", "score": 30.0, "interval": None},
    ]
    assert (shown["system"], shown["references"], shown["too_few_runs"]) == ("tug", ["A"], True)
    assert shown["changes"] == [CHANGE.as_json()]
    assert Change.from_json(CHANGE.as_json()) == CHANGE
    without = replace(CHANGE, interval=None, p_segments=None)
    assert Change.from_json(without.as_json()) == without
    assert CHANGE.as_json()["difference"] == -1.0
