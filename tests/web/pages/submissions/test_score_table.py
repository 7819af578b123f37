"""The table of a submission's scores: references, what is told of each score, and the best one before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from campaigns.leaderboards.feedback import EvaluationFeedback, ScoreFeedback
from models.schema.roles import Feedback
from models.schema.states import EvaluationState
from web.pages.submissions.scores import Headline, column_of, headline, score_table


def score(metric: str, value: float | None, *, higher: bool = True, scale: float = 100.0, **more: Any) -> ScoreFeedback:
    against = more.pop("against", "A")
    return ScoreFeedback(metric, metric.upper(), f"{metric}|{against}", higher, scale, True, score=value, **more)


def feedback(
    *scores: ScoreFeedback, references: str = "A", protocol: int = 1, rule: Feedback = Feedback.FULL
) -> EvaluationFeedback:
    labels = tuple(references)
    return EvaluationFeedback(1, 1, protocol, labels, EvaluationState.DONE, None, rule, 1.0, False, 0.95, scores)


def cells(told: Any, others: Any = ()) -> dict[str, list[tuple[str, str, bool | None]]]:
    return {
        row.title: [(cell.score, cell.interval, cell.improved) for cell in row.cells]
        for row in score_table(told, others).rows
    }


def test_columns_are_lists_of_references_most_first() -> None:
    told = [
        feedback(score("bleu", 30.0), score("chrf", 50.0), references="B", protocol=1),
        feedback(score("bleu", 40.0, against="AB"), score("ter", 20.0, higher=False), references="AB", protocol=2),
        feedback(references="ABC", protocol=3),
        feedback(score("bleu", 1.0), references="ABCD", protocol=4, rule=Feedback.NONE),
    ]
    table = score_table(told, [])
    assert table.references == [("A", "B"), ("B",)]
    assert cells(told) == {
        "BLEU": [("40.0", "", None), ("30.0", "", None)],
        "TER": [("20.0", "", None), ("–", "", None)],
        "CHRF": [("–", "", None), ("50.0", "", None)],
    }
    assert [row.higher_is_better for row in table.rows] == [True, False, True]
    assert table.signatures == [
        *(("BLEU, A + B", "bleu|AB"), ("TER, A + B", "ter|A")),
        *(("BLEU, B", "bleu|A"), ("CHRF, B", "chrf|A")),
    ]
    assert score_table(told[:1], []).signatures == [("BLEU", "bleu|A"), ("CHRF", "chrf|A")]
    assert not table.compared


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        (Feedback.FULL, ("12.3", "10.0 to 15.0", None)),
        # Of what is rounded to whole points, more digits would look exact.
        (Feedback.ROUNDED, ("12", "10 to 15", None)),
        (Feedback.INTERVAL, ("", "10 to 15", None)),
    ],
)
def test_a_cell_tells_what_the_rule_tells(rule: Feedback, shown: tuple[str, str, bool | None]) -> None:
    exact = 12.34 if rule == Feedback.FULL else 12.0
    assert cells([feedback(score("bleu", exact, low=10.0, high=15.0), rule=rule)]) == {"BLEU": [shown]}


@pytest.mark.parametrize(("step", "shown"), [(1.0, "12"), (5.0, "12"), (0.5, "12.0"), (0.25, "12.0"), (0.01, "12.0")])
def test_rounded_scores_have_as_many_digits_as_their_step(step: float, shown: str) -> None:
    told = replace(feedback(score("bleu", 12.0), rule=Feedback.ROUNDED), step=step)
    assert cells([told]) == {"BLEU": [(shown, "", None)]}
    assert headline([told], "").text == f"BLEU {shown}"


def test_half_an_interval_is_none_and_no_score_is_undefined() -> None:
    for low, high in ((1.0, None), (None, 1.0), (None, None)):
        assert cells([feedback(score("bleu", None, low=low, high=high))]) == {"BLEU": [("n/a", "", None)]}
    told = [feedback(score("bleu", 9.0, improved=False), rule=Feedback.LADDER)]
    assert cells(told) == {"BLEU": [("9.0", "", False)]}


@pytest.mark.parametrize(
    ("higher", "value", "before", "change", "better"),
    [
        (True, 30.0, "28.0", "+2.0", True),
        (True, 25.0, "28.0", "−3.0", False),
        (True, 28.0, "28.0", "0.0", None),
        (False, 15.0, "20.0", "−5.0", True),
        (False, 22.0, "20.0", "+2.0", False),
    ],
)
def test_the_best_of_the_others_under_the_same_protocol(
    higher: bool, value: float, before: str, change: str, better: bool | None
) -> None:
    others = [
        [feedback(score("m", each, higher=higher)), feedback(score("m", 99.0 if higher else 1.0), protocol=7)]
        for each in (20.0, None, 28.0, 25.0)
    ]
    (row,) = score_table([feedback(score("m", value, higher=higher))], others).rows
    assert (row.before, row.change, row.better) == (before, change, better)
    (alone,) = score_table([feedback(score("m", value, higher=higher))], []).rows
    assert (alone.before, alone.change, alone.better) == ("", "", None)


@pytest.mark.parametrize("rule", [Feedback.INTERVAL, Feedback.LADDER])
def test_what_is_not_told_is_not_compared(rule: Feedback) -> None:
    others = [[feedback(score("m", 20.0))]]
    table = score_table([feedback(score("m", 30.0), rule=rule)], others)
    assert not table.compared
    assert score_table([feedback(score("m", 30.0), rule=Feedback.ROUNDED)], others).compared


def test_the_first_references_are_compared() -> None:
    told = [feedback(score("m", 30.0), protocol=1), feedback(score("m", 50.0), references="AB", protocol=2)]
    others = [[feedback(score("m", 10.0), protocol=1), feedback(score("m", 49.0), references="AB", protocol=2)]]
    (row,) = score_table(told, others).rows
    assert (row.before, row.change) == ("49.0", "+1.0")


def test_how_numbers_are_coarsened_is_said_once() -> None:
    told = [feedback(score("m", 1.0), rule=Feedback.ROUNDED, references=each) for each in ("A", "AB")]
    assert score_table(told, []).words == [told[0].words]


def test_one_score_for_a_list() -> None:
    told = [
        feedback(score("bleu", 30.0), score("chrf", 50.0), references="A"),
        feedback(score("bleu", 40.0), score("chrf", 60.0), references="AB"),
        feedback(score("bleu", 1.0), references="ABC", rule=Feedback.NONE),
    ]
    assert headline(told, "").text == "BLEU 40.0"
    assert headline(told, "chrf").text == "CHRF 60.0"
    assert headline(told, "ter").text == "BLEU 40.0"
    assert headline(told[2:], "").text == ""
    assert headline([feedback(score("bleu", None, low=1.0, high=2.0))], "").text == "BLEU 1.0 to 2.0"
    assert headline([feedback(score("bleu", None))], "").text == ""


def test_a_list_names_the_metric_once_where_all_scores_are_by_the_same() -> None:
    nothing = Headline("", "")
    same = {1: Headline("BLEU", "40.0"), 2: nothing, 3: Headline("BLEU", "7.0")}
    assert column_of(same) == ("BLEU", {1: "40.0", 2: "", 3: "7.0"})
    differing = {**same, 3: Headline("chrF2", "50.0")}
    assert column_of(differing) == ("Score", {1: "BLEU 40.0", 2: "", 3: "chrF2 50.0"})
    assert column_of({2: nothing}) == ("Score", {2: ""})
