"""Submissions and their scores as programs read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from campaigns.leaderboards.rounding import end_of
from models.schema.roles import DeclaredKind
from models.schema.states import EvaluationState

if TYPE_CHECKING:
    from campaigns.checks.finding import Finding as FoundFinding
    from campaigns.leaderboards.feedback import Told, ToldScore
    from campaigns.permissions import Sight
    from campaigns.quotas.usage import Standing
    from campaigns.submissions.views import SeenSubmission
    from models.queue_status.submission_progress import Awaited


class Finding(BaseModel):
    """Something that was noticed about an output."""

    code: str
    severity: str
    message: str
    segments: list[int]
    """The first segments that it is about, from 1."""
    count: int
    """How many it is about; 0 for the whole."""


class Evaluation(BaseModel):
    """One way in which a submission is measured."""

    id: int
    references: list[str]
    metrics: list[str]
    state: EvaluationState
    reason: str | None


class Score(BaseModel):
    """What the team is told of a score."""

    metric: str
    title: str
    signature: str
    higher_is_better: bool
    scale: float | None
    """What a perfect score is; null where the scale has no end."""
    told: bool
    """Whether anything is told; then null is undefined."""
    score: float | None
    low: float | None
    """Lower end of the interval at 95 %."""
    high: float | None
    improved: bool | None
    """By the Ladder rule: whether it beat the team's best."""


class ToldEvaluation(BaseModel):
    """The scores by one protocol, as the phase lets them be told."""

    evaluation: int
    references: list[str]
    feedback: str
    words: str
    """How the numbers were made coarse; "" where they were not."""
    scores: list[Score]


class Progress(BaseModel):
    """How far a submission is."""

    state: EvaluationState
    segments: int
    """Of the test set, once for each list of references that it is measured against."""
    segments_done: int
    """Those that have been measured by all metrics."""
    ahead: int | None
    """Other submissions that were queued before; teams take turns, so it is not strictly waited for them."""
    seconds_left: float | None
    """Roughly; null where it is not known."""
    ended: bool


class Quota(BaseModel):
    """How the team stands against a limit."""

    kind: str
    amount: int | None
    """The limit; null for none."""
    used: int
    of_what: str
    free_at: float | None
    """When there is room again, where the calendar says it; seconds since 1970."""


class Submission(BaseModel):
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
    progress: Progress
    evaluations: list[Evaluation]
    findings: list[Finding]


class SubmissionWithScores(Submission):
    """A submission and what is told of its scores."""

    told: list[ToldEvaluation]


class HandedIn(Submission):
    """A submission that has just been handed in."""

    stored: bool
    """False where the very same one was there already."""
    queued: bool
    quotas: list[Quota]


class Examined(BaseModel):
    """What was noticed about an output that was not handed in."""

    findings: list[Finding]
    fatal: bool


def shown_progress(seen: Awaited) -> Progress:
    """As programs read it."""
    left = None if seen.seconds_left is None else round(seen.seconds_left, 1)
    return Progress(
        state=seen.state,
        segments=seen.segments,
        segments_done=seen.segments_done,
        ahead=seen.ahead,
        seconds_left=left,
        ended=seen.ended,
    )


def shown_quota(standing: Standing) -> Quota:
    """As programs read it."""
    return Quota(
        kind=standing.kind,
        amount=standing.amount,
        used=standing.used,
        of_what=standing.of_what,
        free_at=standing.free_at,
    )


def shown_submission(sight: Sight, seen: SeenSubmission) -> Submission:
    """As programs read it."""
    assert seen.awaited is not None
    return Submission(
        id=seen.id,
        campaign=sight.name,
        team=seen.team,
        system=seen.system,
        run=seen.run,
        test_set=f"{seen.test_set.name}@{seen.test_set.version}",
        segments=seen.test_set.segments,
        created_at=seen.created_at,
        kind=seen.kind,
        constrained=seen.constrained,
        description=seen.description,
        phase=seen.phase,
        late_seconds=seen.late_seconds,
        withdrawn_at=seen.withdrawn_at,
        progress=shown_progress(seen.awaited),
        evaluations=[
            Evaluation(
                id=each.id,
                references=list(each.references),
                metrics=list(each.metrics),
                state=each.state,
                reason=each.reason,
            )
            for each in seen.evaluations
        ],
        findings=[shown_finding(each) for each in seen.findings],
    )


def shown_finding(finding: FoundFinding) -> Finding:
    """As programs read it."""
    return Finding(**finding.as_row())


def shown_told(told: Told) -> ToldEvaluation:
    """As programs read it."""
    return ToldEvaluation(
        evaluation=told.evaluation_id,
        references=list(told.references),
        feedback=told.feedback,
        words=told.words,
        scores=[_score(each) for each in told.scores],
    )


def _score(score: ToldScore) -> Score:
    return Score(
        metric=score.metric,
        title=score.title,
        signature=score.signature,
        higher_is_better=score.higher_is_better,
        scale=end_of(score.scale),
        told=score.told,
        score=score.score,
        low=score.low,
        high=score.high,
        improved=score.improved,
    )
