"""Evaluations: one submission under one protocol."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from steelyard_client.documents.document import Document, Timestamp
from steelyard_client.vocabulary import EvaluationState


class EvaluationResponse(Document):
    """An evaluation and its progress."""

    id: int
    """Its number."""
    submission: int
    """Number of the submission."""
    references: list[str]
    """Labels of the references."""
    metrics: list[str]
    """Specifications of the metrics."""
    state: EvaluationState
    """State of the evaluation."""
    reason: str | None
    """Why it failed or was cancelled; null otherwise."""
    segments: int
    """Segments of the test set."""
    segments_done: int
    """Segments that all its metrics have measured."""
    created_at: Timestamp
    """When it was queued."""
    started_at: Timestamp | None
    """When its first task began; null before."""
    finished_at: Timestamp | None
    """When it ended; null before."""


class EvaluationCancel(Document):
    """Why an evaluation is cancelled, and whether it still counts against the quota."""

    reason: str = Field(default="", max_length=1000)
    """Why, for the audit log."""
    counts: bool = False
    """Whether the submission still counts against the team's quota."""


class SelectedEvaluation(Document):
    """An evaluation, with the names of what it evaluates."""

    id: int
    """Its number."""
    submission: int
    """Number of the submission."""
    campaign: str
    """Name of the campaign."""
    test_set: str
    """Name of the test set, with its version if that is not the first."""
    references: list[str]
    """Labels of the references."""
    team: str
    """Name of the team; "" for the organisers."""
    system: str
    """Name of the system."""
    run: str
    """Label of the run; "" for the only one."""
    state: EvaluationState
    """State of the evaluation."""
    reason: str | None
    """Why it failed or was cancelled; null otherwise."""
    fault: str | None
    """What is to blame for a failure: input or platform; null where it is not known."""
    shards_left: int
    """Shards that are not done yet."""
    ended_seconds: float | None
    """Seconds since it ended; null before."""


class EvaluationSelection(Document):
    """Which evaluations of the campaigns that you organise: those that match all that is given."""

    evaluations: list[Annotated[int, Field(ge=1, lt=2**63)]] = Field(default_factory=list, max_length=20_000)
    """Their numbers."""
    campaign: str = Field(default="", max_length=300)
    """Name of a campaign."""
    system: str = Field(default="", max_length=1000)
    """Name of a system, NAME or TEAM/NAME."""
    team: str = Field(default="", max_length=300)
    """The team that queued them."""
    states: list[EvaluationState] = Field(default_factory=list, max_length=len(EvaluationState))
    """Their states."""


class EvaluationsCancel(EvaluationSelection):
    """Which evaluations are cancelled, and why."""

    reason: str = Field(default="", max_length=1000)
    """Why; the teams read it."""
    counts: bool = False
    """Whether the submissions still count against the quotas of their teams."""


class StoredScore(Document):
    """A score, with a digest of everything that is stored with it."""

    evaluation: int
    """Number of the evaluation."""
    position: int
    """Position of the metric in the evaluation."""
    title: str
    """Title of the metric."""
    signature: str
    """The signature: everything that the score depends on."""
    score: float | None
    """The score; null where it is undefined."""
    digest: str
    """SHA-256 of the bits of the score, its sums and its replicates: the same only where all of these are."""


class EvaluationsChangeResponse(Document):
    """What was done to evaluations, or with `dry_run` what would be done."""

    changed: bool
    """Whether it is done; false where it was only asked what would be."""
    evaluations: list[SelectedEvaluation]
    """The evaluations that it concerns, as they were before."""
    skipped: dict[EvaluationState, int]
    """How many others were selected, by their states, in which it is not possible."""
    scores: list[StoredScore]
    """The scores that a recomputation deletes."""
    comparisons: list[int]
    """Comparisons that read these evaluations, and have failed by a recomputation."""


class EvaluationScoresResponse(Document):
    """The stored scores of evaluations."""

    scores: list[StoredScore]
    """In the order of their evaluations and metrics."""
