"""Scores on parts of a test set: its documents, its domains, or its segments of some length."""

from __future__ import annotations

from steelyard_client.documents.document import Document
from steelyard_client.vocabulary import Average, Constrained, Grouping, SystemFilter


class BreakdownGroup(Document):
    """A document, all documents of a domain, or all segments of some length."""

    name: str
    """Of the document or domain; or the lengths, such as "11–20"."""
    domain: str
    """The domain; "" where it is not known."""
    segments: int
    """How many segments it has."""


class BreakdownSystem(Document):
    """A system with its score on each group."""

    submission: int
    """Number of its last submission."""
    name: str
    """As leaderboards show it."""
    own: bool
    """Whether it belongs to a team of the account."""
    rank: int | None
    """By the average that ranks, among the systems shown; null where it is not ranked there."""
    micro: float | None
    """Its score on the whole test set."""
    macro: float | None
    """The plain mean of its scores on all groups; null where a group has none."""
    scores: list[float | None]
    """On each group alone; null where undefined, never a score of 0."""


class BreakdownResponse(Document):
    """The systems of a leaderboard by one metric on parts of the test set."""

    campaign: str
    """Name of the campaign."""
    test_set: str
    """Name of the test set."""
    version: str
    """The version of the test set."""
    board: int
    """Number of the leaderboard."""
    references: list[str]
    """Labels of the references."""
    metric: str
    """The metric, as a specification."""
    title: str
    """The metric, as leaderboards entitle it."""
    signature: str
    """The metric's signature; "" where nothing has a score."""
    higher_is_better: bool
    """Whether a higher score is better."""
    scale: float | None
    """The perfect score; null for an open-ended scale."""
    by: Grouping
    """What segments are grouped by."""
    unit: str
    """What lengths are counted in, "words" or "characters"; "" where segments are not grouped by length."""
    average: Average
    """What ranks."""
    shown: SystemFilter
    """Which systems are shown."""
    constrained: Constrained
    """Which systems are shown, by their training data."""
    groups: list[BreakdownGroup]
    """Documents in the order of the test set, domains by name, or lengths from the shortest."""
    systems: list[BreakdownSystem]
    """Best first by the average; those without one last."""
