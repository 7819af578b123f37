"""Submissions, their findings, scores and progress; systems."""

from __future__ import annotations

from pydantic import Field

from steelyard_client.documents.campaigns.quotas import QuotaUsageResponse
from steelyard_client.documents.document import Document, Timestamp
from steelyard_client.vocabulary import DeclaredKind, EvaluationState


class FindingResponse(Document):
    """A finding of the checks on an output."""

    code: str
    """What was found, as a code."""
    severity: str
    """fatal, warning or note; a fatal finding prevents scoring."""
    message: str
    """What was found, in words."""
    segments: list[int]
    """The first segments that it concerns, numbered from 1."""
    count: int
    """How many segments it concerns; 0 for the whole output."""


class MeasuredEvaluation(Document):
    """An evaluation of a submission: its references and metrics, and its state."""

    id: int
    """Its number."""
    references: list[str]
    """Labels of the references."""
    metrics: list[str]
    """Specifications of the metrics."""
    state: EvaluationState
    """State of the evaluation."""
    reason: str | None
    """Why it failed or was cancelled; null otherwise."""


class ScoreResponse(Document):
    """A score as the phase discloses it to the team."""

    metric: str
    """Specification of the metric."""
    title: str
    """Its title, as pages show it."""
    signature: str
    """The signature: everything that the score depends on."""
    higher_is_better: bool
    """Whether a higher score is better."""
    scale: float | None
    """The perfect score; null for an open-ended scale."""
    disclosed: bool
    """Whether the score is disclosed; if so, null means undefined."""
    score: float | None
    """The score; null where it is undefined or not disclosed."""
    low: float | None
    """Lower bound of the confidence interval."""
    high: float | None
    """Upper bound of the confidence interval."""
    improved: bool | None
    """Under the Ladder rule: whether it beat the team's best score."""
    rank: int | None
    """The rank of its system on the leaderboard by this metric; null where it has none, or none is shown."""
    ranked: int | None
    """How many systems this metric ranks; null where the leaderboard is not shown."""


class FeedbackResponse(Document):
    """The scores of one evaluation, as the phase discloses them to the team."""

    evaluation: int
    """Number of the evaluation."""
    references: list[str]
    """Labels of the references."""
    feedback: str
    """How precisely the phase discloses scores."""
    words: str
    """How the numbers were rounded or withheld; "" where they are exact."""
    level: float
    """The confidence level of the intervals."""
    remark: str
    """Why its system has no rank on the leaderboard, or what has the rank; "" where there is nothing to say."""
    scores: list[ScoreResponse]
    """One score for each metric."""


class ProgressResponse(Document):
    """Progress of a submission."""

    state: EvaluationState
    """State of the submission as a whole."""
    segments: int
    """Segments of the test set, counted once for each list of references."""
    segments_done: int
    """Segments that all metrics have measured."""
    ahead: int | None
    """Other submissions queued earlier. Teams share the workers, so the order is not strict."""
    seconds_left: float | None
    """An estimate; null where none is known."""
    ended: bool
    """Whether it is done, failed or cancelled."""


class SubmissionResponse(Document):
    """An output of a system for a test set."""

    id: int
    """Its number."""
    campaign: str
    """Name of the campaign."""
    team: str
    """Name of the team; "" for the organisers."""
    system: str
    """Name of the system."""
    run: str
    """Label of the run; "" for the only one."""
    test_set: str
    """NAME@VERSION."""
    segments: int
    """Number of segments of the test set."""
    created_at: Timestamp
    """When it was submitted."""
    kind: DeclaredKind
    """primary, contrastive or ""."""
    constrained: bool | None
    """Whether it used only the permitted data; null if not specified."""
    description: str
    """What the team says about it."""
    phase: str
    """Name of the phase; "" for none."""
    late_seconds: float
    """By how much it missed the deadline, in seconds; 0 if it was in time."""
    withdrawn_at: Timestamp | None
    """When it was withdrawn; null while it counts."""
    progress: ProgressResponse
    """How far its evaluations are."""
    evaluations: list[MeasuredEvaluation]
    """Its evaluations, one for each list of references."""
    findings: list[FindingResponse]
    """The findings of the checks."""


class SubmissionWithScoresResponse(SubmissionResponse):
    """A submission with the scores that are disclosed."""

    feedback: list[FeedbackResponse]
    """The scores that the phase discloses, for each evaluation."""


class SubmissionCreatedResponse(SubmissionResponse):
    """A submission that was just submitted."""

    stored: bool
    """False where an identical submission existed already."""
    queued: bool
    """Whether it was queued for scoring."""
    quotas: list[QuotaUsageResponse]
    """The quotas of the team after this submission."""


class RefusedOutputResponse(Document):
    """A file of many outputs of which nothing was stored."""

    file: str
    """Its name."""
    reason: str
    """Why."""
    details: list[str]
    """What is wrong with it, a sentence each."""


class CheckedOutputResponse(Document):
    """A file of many outputs that would be stored."""

    file: str
    """Its name, with the pair where it is for several."""
    test_set: str
    """Name of the test set that it is for; NAME@VERSION where a name has several."""
    findings: list[FindingResponse]
    """The findings of the checks."""


class SubmissionsCreatedResponse(Document):
    """A system's outputs for many language pairs that were just submitted, or for a preview only checked."""

    stored: list[SubmissionCreatedResponse]
    """One for each test set; empty for a preview."""
    checked: list[CheckedOutputResponse]
    """Those that would be stored, for a preview."""
    refused: list[RefusedOutputResponse]
    """The others."""
    missing: list[str]
    """Test sets without an output, for a preview."""
    left_out: list[str] = Field(default_factory=list)
    """Files of a zip that cannot be outputs, by their names: no texts, or in folders of folders."""


class OutputCheckResponse(Document):
    """Findings about an output that was only checked."""

    findings: list[FindingResponse]
    """The findings of the checks."""
    fatal: bool
    """Whether a finding prevents scoring."""


class SubmissionUpdate(Document):
    """Changes to the declaration of a submission; omitted fields stay unchanged."""

    kind: DeclaredKind | None = None
    """primary, contrastive or "" for neither."""
    constrained: bool | None = None
    """An explicit null clears it."""
    description: str | None = Field(default=None, max_length=5000)
    """What the team says about it."""
