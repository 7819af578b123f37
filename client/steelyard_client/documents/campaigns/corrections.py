"""Corrections of references, and what they change."""

from __future__ import annotations

from steelyard_client.documents.document import Document, Timestamp


class CorrectionResponse(Document):
    """The replacement of a test set by a version with corrected references."""

    id: int
    """Its number."""
    test_set: str
    """Name of the test set."""
    old_test_set: int
    """Number of the replaced version."""
    new_test_set: int
    """Number of the new version."""
    old_version: str
    """The replaced version."""
    new_version: str
    """The new version."""
    reason: str
    """Why the references were corrected."""
    made_at: Timestamp
    """When they were corrected."""


class CorrectedSystem(Document):
    """A system before and after a correction."""

    team: str
    """Name of the team."""
    system: str
    """Name of the system."""
    old: float | None
    """The score with the old references."""
    new: float | None
    """The score with the new references."""
    difference: float | None
    """The new score minus the old one."""
    ranked: bool
    """Whether the leaderboard ranks it now; old ranks are those among the same systems."""
    old_rank: int | None
    """The rank with the old references."""
    new_rank: int | None
    """The rank with the new references."""
    risen: int | None
    """Ranks gained (positive) or lost."""


class CorrectedMetric(Document):
    """A metric and list of references, before and after a correction."""

    references: list[str]
    """Labels of the references."""
    metric: str
    """Specification of the metric."""
    title: str
    """Its title, as pages show it."""
    higher_is_better: bool
    """Whether a higher score is better."""
    systems: list[CorrectedSystem]
    """The systems, with the old and the new scores."""


class CorrectionDetailsResponse(CorrectionResponse):
    """A correction with its effect on scores and ranks."""

    open_evaluations: int
    """Evaluations on the new test set that have not ended."""
    metrics: list[CorrectedMetric]
    """The effect on the scores, for each list of references and metric."""
