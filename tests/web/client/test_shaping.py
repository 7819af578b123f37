"""Answers as dataclasses, of servers older and newer than the client."""

from dataclasses import dataclass, fields

import pytest

from web.api import boards, campaigns, comparisons, me, submission_shapes
from web.client import answers
from web.client.errors import NotSteelyard
from web.client.shaping import shaped


@dataclass(frozen=True)
class Part:
    name: str


@dataclass(frozen=True)
class Whole:
    id: int
    parts: tuple[Part, ...] = ()
    best: Part | None = None
    names: tuple[str, ...] = ()


def test_objects_in_objects_are_shaped_too() -> None:
    found = {"id": 1, "parts": [{"name": "a"}, {"name": "b", "new": 1}], "best": None, "names": ["x"], "more": {}}
    assert shaped(Whole, found) == Whole(1, (Part("a"), Part("b")), None, ("x",))
    assert shaped(Whole, {"id": 2, "best": {"name": "c"}}) == Whole(2, (), Part("c"), ())


@pytest.mark.parametrize("found", [None, [], "x", {"parts": []}, {"id": 1, "best": 3}])
def test_what_does_not_fit_is_said(found: object) -> None:
    with pytest.raises(NotSteelyard, match="another release"):
        shaped(Whole, found)


@pytest.mark.parametrize(
    ("sent", "shape"),
    [
        (boards.BoardListed, answers.BoardListed),
        (boards.BoardRanking, answers.Ranking),
        (boards.BoardScore, answers.BoardScore),
        (boards.BoardSystem, answers.BoardSystem),
        (boards.Interval, answers.Interval),
        (boards.Leaderboard, answers.Leaderboard),
        (campaigns.CampaignDetails, answers.Campaign),
        (comparisons.ComparedSystem, answers.ComparedSystem),
        (comparisons.Comparisons, answers.Comparisons),
        (comparisons.PairTest, answers.PairTest),
        (comparisons.Progress, answers.Trying),
        (me.Me, answers.Me),
        (submission_shapes.Evaluation, answers.Evaluation),
        (submission_shapes.Finding, answers.Finding),
        (submission_shapes.HandedIn, answers.Submission),
        (submission_shapes.Progress, answers.Progress),
        (submission_shapes.Quota, answers.Quota),
        (submission_shapes.Score, answers.Score),
        (submission_shapes.SubmissionWithScores, answers.Submission),
        (submission_shapes.ToldEvaluation, answers.ToldEvaluation),
    ],
)
def test_the_client_drops_nothing_that_the_server_sends(sent, shape):
    assert set(sent.model_fields) <= {field.name for field in fields(shape)}
