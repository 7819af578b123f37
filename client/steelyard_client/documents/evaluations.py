"""Evaluations: one submission under one protocol."""

from __future__ import annotations

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
