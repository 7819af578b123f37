"""Human judgments, and the correlation of metrics with them."""

from __future__ import annotations

from typing import Any

from steelyard_client.documents.document import Document, Timestamp


class HumanScoresResponse(Document):
    """One version of human judgments of a test set."""

    test_set: str
    """Name of the test set."""
    name: str
    """The name of the judgments."""
    version: int
    """The version of the judgments, from 1."""
    kind: str
    """scores, ratings, errors or rankings."""
    method: dict[str, Any]
    """How the judgments were aggregated to scores."""
    created_at: Timestamp
    """When this version was stored."""


class HumanScoresCreatedResponse(HumanScoresResponse):
    """The stored judgments, and how their systems match the campaign's systems."""

    matched: list[str]
    """Matched systems, by their names in the campaign; judgments may name them with or without their teams."""
    unknown: list[str]
    """Judged systems without a submission that are not references either."""
    not_judged: list[str]
    """Submitted systems without judgments."""


class CorrelationsResponse(Document):
    """Correlations of metrics with human judgments."""

    test_set: str | None
    """null while the campaign has none."""
    references: list[str]
    """Labels of the references."""
    human: str | None
    """The judgments used; null where no system with scores was judged."""
    tables: list[dict[str, Any]]
    """One table per level (system, segment) that was judged, in the format of `steelyard correlate -f json`."""
