"""Responses about submissions and their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from campaigns.leaderboards.rounding import finite_scale
from models.schema.roles import DeclaredKind
from models.schema.states import EvaluationState

if TYPE_CHECKING:
    from campaigns.leaderboards.feedback import EvaluationFeedback, ScoreFeedback
    from campaigns.permissions import CampaignAccess
    from campaigns.quotas.usage import QuotaUsage
    from campaigns.submissions.views import SubmissionView
    from models.queue_status.submission_progress import SubmissionProgress
    from steelyard.checks.finding import Finding


class FindingResponse(BaseModel):
    """A finding of the checks on an output."""

    code: str
    severity: str
    message: str
    segments: list[int]
    """The first segments that it concerns, numbered from 1."""
    count: int
    """How many segments it concerns; 0 for the whole output."""


class MeasuredEvaluation(BaseModel):
    """An evaluation of a submission: its references and metrics, and its state."""

    id: int
    references: list[str]
    metrics: list[str]
    state: EvaluationState
    reason: str | None


class ScoreResponse(BaseModel):
    """A score as the phase discloses it to the team."""

    metric: str
    title: str
    signature: str
    higher_is_better: bool
    scale: float | None
    """The perfect score; null for an open-ended scale."""
    told: bool
    """Whether the score is disclosed; if so, null means undefined."""
    score: float | None
    low: float | None
    """Lower bound of the 95 % interval."""
    high: float | None
    improved: bool | None
    """Under the Ladder rule: whether it beat the team's best score."""


class FeedbackResponse(BaseModel):
    """The scores of one evaluation, as the phase discloses them to the team."""

    evaluation: int
    references: list[str]
    feedback: str
    words: str
    """How the numbers were rounded or withheld; "" where they are exact."""
    scores: list[ScoreResponse]


class ProgressResponse(BaseModel):
    """Progress of a submission."""

    state: EvaluationState
    segments: int
    """Segments of the test set, counted once for each list of references."""
    segments_done: int
    """Segments that all metrics have measured."""
    ahead: int | None
    """Other submissions queued earlier. Teams share the workers, so the order is not strict."""
    seconds_left: float | None
    """An estimate; null where none is known."""
    ended: bool


class QuotaUsageResponse(BaseModel):
    """A team's use of one quota."""

    kind: str
    amount: int | None
    """The limit; null for no limit."""
    used: int
    of_what: str
    free_at: float | None
    """When the quota frees up, in seconds since 1970; null where that depends on running evaluations."""


class SubmissionResponse(BaseModel):
    """An output of a system for a test set."""

    id: int
    campaign: str
    team: str
    system: str
    run: str
    test_set: str
    """NAME@VERSION."""
    segments: int
    created_at: float
    kind: DeclaredKind
    constrained: bool | None
    description: str
    phase: str
    late_seconds: float
    withdrawn_at: float | None
    progress: ProgressResponse
    evaluations: list[MeasuredEvaluation]
    findings: list[FindingResponse]


class SubmissionWithScoresResponse(SubmissionResponse):
    """A submission with the scores that are disclosed."""

    told: list[FeedbackResponse]


class SubmissionCreatedResponse(SubmissionResponse):
    """A submission that was just submitted."""

    stored: bool
    """False where an identical submission existed already."""
    queued: bool
    quotas: list[QuotaUsageResponse]


class DiagnosisResponse(BaseModel):
    """Findings about an output that was only checked."""

    findings: list[FindingResponse]
    fatal: bool


def progress_response(progress: SubmissionProgress) -> ProgressResponse:
    """The response for a submission's progress."""
    left = None if progress.seconds_left is None else round(progress.seconds_left, 1)
    return ProgressResponse(
        state=progress.state,
        segments=progress.segments,
        segments_done=progress.segments_done,
        ahead=progress.ahead,
        seconds_left=left,
        ended=progress.ended,
    )


def quota_usage_response(usage: QuotaUsage) -> QuotaUsageResponse:
    """The response for a team's use of a quota."""
    return QuotaUsageResponse(
        kind=usage.kind,
        amount=usage.amount,
        used=usage.used,
        of_what=usage.of_what,
        free_at=usage.free_at,
    )


def submission_response(access: CampaignAccess, submission: SubmissionView) -> SubmissionResponse:
    """The response for a submission, without scores."""
    assert submission.progress is not None
    return SubmissionResponse(
        id=submission.id,
        campaign=access.name,
        team=submission.team,
        system=submission.system,
        run=submission.run,
        test_set=f"{submission.test_set.name}@{submission.test_set.version}",
        segments=submission.test_set.segments,
        created_at=submission.created_at,
        kind=submission.kind,
        constrained=submission.constrained,
        description=submission.description,
        phase=submission.phase,
        late_seconds=submission.late_seconds,
        withdrawn_at=submission.withdrawn_at,
        progress=progress_response(submission.progress),
        evaluations=[
            MeasuredEvaluation(
                id=each.id,
                references=list(each.references),
                metrics=list(each.metrics),
                state=each.state,
                reason=each.reason,
            )
            for each in submission.evaluations
        ],
        findings=[finding_response(each) for each in submission.findings],
    )


def finding_response(finding: Finding) -> FindingResponse:
    """The response for a finding."""
    return FindingResponse(**finding.as_row())


def feedback_response(feedback: EvaluationFeedback) -> FeedbackResponse:
    """The response for the disclosed scores of one evaluation."""
    return FeedbackResponse(
        evaluation=feedback.evaluation_id,
        references=list(feedback.references),
        feedback=feedback.feedback,
        words=feedback.words,
        scores=[_score_response(each) for each in feedback.scores],
    )


def _score_response(score: ScoreFeedback) -> ScoreResponse:
    return ScoreResponse(
        metric=score.metric,
        title=score.title,
        signature=score.signature,
        higher_is_better=score.higher_is_better,
        scale=finite_scale(score.scale),
        told=score.told,
        score=score.score,
        low=score.low,
        high=score.high,
        improved=score.improved,
    )
