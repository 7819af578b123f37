"""Scores that were made elsewhere, and AutoRank."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from steelyard_client.documents.document import Document, Timestamp


class ScoreFileResponse(Document):
    """A file that scores came from."""

    name: str
    """Its name when it was imported."""
    sha256: str
    """SHA-256 of its content."""


class ImportedScoresResponse(Document):
    """One version of a metric's scores on a test set."""

    test_set: str
    """The test set."""
    name: str
    """The metric."""
    version: str
    """The version of its scores."""
    shown: bool
    """Whether it is the version on the leaderboards."""
    level: str
    """What has a score: segment, document or system. Scores of systems have no intervals."""
    higher_is_better: bool
    """Whether a higher score is better."""
    systems: int
    """How many systems have a score."""
    sha256: str
    """SHA-256 of all scores."""
    files: list[ScoreFileResponse]
    """Where they came from."""
    notices: list[str]
    """What was missing or left out."""
    imported_by: str
    """Who imported them."""
    created_at: Timestamp
    """When they were imported."""


class ImportedColumnResponse(Document):
    """A metric of a test set in an import."""

    test_set: str
    """The test set."""
    name: str
    """The metric."""
    version: str
    """The version of its scores."""
    level: str
    """What has a score: segment, document or system."""
    higher_is_better: bool
    """Whether a higher score is better."""
    systems: int
    """How many systems have a score."""
    new: bool
    """false where the very same scores were there already."""


class ScoresImportedResponse(Document):
    """What was imported, or would be."""

    stored: bool
    """false for a preview: nothing was stored."""
    columns: list[ImportedColumnResponse]
    """The metrics, by test set."""
    notices: list[str]
    """What was missing or left out."""


class AutoRankUpdate(Document):
    """What AutoRank is made of."""

    model_config = ConfigDict(extra="forbid")

    rule: str = Field(default="", max_length=20)
    """wmt24 or wmt25; "" for the newest."""
    metrics: dict[str, list[str]] = Field(default_factory=dict, max_length=1000)
    """The metrics of each test set, by title or name; "" is for test sets that are not named. Without any, all that
    are on a leaderboard."""
    weights: dict[str, list[float]] = Field(default_factory=dict, max_length=1000)
    """What these metrics weigh, by the same names; test sets without any have equal weights."""


class AutoRankResponse(Document):
    """What a campaign ranks by."""

    ranked_by: str
    """The specification of AutoRank."""
    columns: dict[str, list[str]]
    """The AutoRanks of each test set, with positions of their metrics."""
