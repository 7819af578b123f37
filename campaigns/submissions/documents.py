"""Documents of submissions and their scores, as pages, API and command line show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.leaderboards.rounding import finite_scale
from steelyard_client.documents.campaigns.quotas import QuotaUsageResponse
from steelyard_client.documents.document import utc
from steelyard_client.documents.submissions.submissions import (
    FeedbackResponse,
    FindingResponse,
    MeasuredEvaluation,
    ProgressResponse,
    ScoreResponse,
    SubmissionResponse,
)

if TYPE_CHECKING:
    from campaigns.leaderboards.feedback import EvaluationFeedback, ScoreFeedback
    from campaigns.leaderboards.places import BoardPlace
    from campaigns.permissions import CampaignAccess
    from campaigns.quotas.usage import QuotaUsage
    from campaigns.submissions.views import SubmissionView
    from models.queue_status.submission_progress import SubmissionProgress
    from steelyard.checks.finding import Finding


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
        of_what=usage.of_what,
        used=usage.used,
        amount=usage.amount,
        full=usage.full,
        free_at=utc(usage.free_at),
        time_zone=usage.day.time_zone,
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
        created_at=utc(submission.created_at),
        kind=submission.kind,
        constrained=submission.constrained,
        description=submission.description,
        phase=submission.phase,
        late_seconds=submission.late_seconds,
        withdrawn_at=utc(submission.withdrawn_at),
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


def feedback_response(feedback: EvaluationFeedback, place: BoardPlace | None) -> FeedbackResponse:
    """The response for the disclosed scores of one evaluation, with the ranks where the leaderboard is shown."""
    return FeedbackResponse(
        evaluation=feedback.evaluation_id,
        references=list(feedback.references),
        feedback=feedback.feedback,
        words=feedback.words,
        level=feedback.level,
        remark="" if place is None else place.remark,
        scores=[_score_response(each, place, metric) for metric, each in enumerate(feedback.scores)],
    )


def _score_response(score: ScoreFeedback, place: BoardPlace | None, metric: int) -> ScoreResponse:
    return ScoreResponse(
        metric=score.metric,
        title=score.title,
        signature=score.signature,
        higher_is_better=score.higher_is_better,
        scale=finite_scale(score.scale),
        disclosed=score.disclosed,
        score=score.score,
        low=score.low,
        high=score.high,
        improved=score.improved,
        rank=None if place is None else place.ranks[metric],
        ranked=None if place is None else place.ranked[metric],
    )
