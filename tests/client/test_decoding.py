"""Answers as dataclasses, of servers older and newer than the client."""

from dataclasses import dataclass, fields

import pytest

from steelyard_client import documents
from steelyard_client.decoding import decode
from steelyard_client.errors import NotSteelyard
from web.api.accounts import me
from web.api.campaigns import campaigns
from web.api.leaderboards import comparisons
from web.api.leaderboards import leaderboards as boards
from web.api.submissions import documents as submission_shapes


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
    assert decode(Whole, found) == Whole(1, (Part("a"), Part("b")), None, ("x",))
    assert decode(Whole, {"id": 2, "best": {"name": "c"}}) == Whole(2, (), Part("c"), ())


@pytest.mark.parametrize("found", [None, [], "x", {"parts": []}, {"id": 1, "best": 3}])
def test_what_does_not_fit_is_said(found: object) -> None:
    with pytest.raises(NotSteelyard, match="another release"):
        decode(Whole, found)


@pytest.mark.parametrize(
    ("sent", "shape"),
    [
        (boards.LeaderboardSummary, documents.LeaderboardSummary),
        (boards.BoardRanking, documents.Ranking),
        (boards.BoardScore, documents.BoardScore),
        (boards.BoardSystem, documents.BoardSystem),
        (boards.ScoreInterval, documents.Interval),
        (boards.LeaderboardResponse, documents.Leaderboard),
        (campaigns.CampaignResponse, documents.Campaign),
        (comparisons.ComparedSystem, documents.ComparedSystem),
        (comparisons.ComparisonsResponse, documents.Comparisons),
        (comparisons.PairTest, documents.PairTest),
        (comparisons.TrialsProgressResponse, documents.TrialsProgress),
        (me.MeResponse, documents.Me),
        (submission_shapes.MeasuredEvaluation, documents.Evaluation),
        (submission_shapes.FindingResponse, documents.Finding),
        (submission_shapes.SubmissionCreatedResponse, documents.Submission),
        (submission_shapes.ProgressResponse, documents.Progress),
        (submission_shapes.QuotaUsageResponse, documents.Quota),
        (submission_shapes.ScoreResponse, documents.Score),
        (submission_shapes.SubmissionWithScoresResponse, documents.Submission),
        (submission_shapes.FeedbackResponse, documents.EvaluationFeedback),
    ],
)
def test_the_client_drops_nothing_that_the_server_sends(sent, shape):
    assert set(sent.model_fields) <= {field.name for field in fields(shape)}
