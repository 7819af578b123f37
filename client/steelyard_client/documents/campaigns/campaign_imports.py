"""Whole campaigns that were imported, or would be."""

from __future__ import annotations

from steelyard_client.documents.document import Document


class ImportedJudgments(Document):
    """Human judgments of a test set, and how their systems match its outputs."""

    name: str
    """The name of the judgments."""
    segments: int
    """Segments with a judgment or a score of at least one system."""
    matched: list[str]
    """Judged systems with an output, by their names in the campaign."""
    unknown: list[str]
    """Judged systems without an output that are not references either."""
    references: list[str]
    """Judged human translations."""
    not_judged: list[str]
    """Systems with an output, but without judgments."""


class ImportedScoresOfMetric(Document):
    """Scores of a metric that were made elsewhere."""

    metric: str
    """The name of the metric."""
    version: str
    """The version of its scores."""
    level: str
    """What was scored: segment, document or system."""
    systems: int
    """How many systems have scores."""


class ImportedTestSet(Document):
    """A test set with what belongs to it."""

    test_set: str
    """Its name; NAME@VERSION for others than the first version."""
    pair: str
    """Its language pair; "" where it is not known."""
    spelt: list[str]
    """How files spell its pair otherwise, where they were matched with it."""
    segments: int
    """Number of segments."""
    documents: int
    """Number of documents; 0 where nothing says which there are."""
    domains: list[str]
    """Domains of the documents."""
    references: list[str]
    """Labels of the references."""
    systems: list[str]
    """Systems with an output, with their teams where they have one."""
    missing: list[str]
    """Systems that other test sets have, and this one has not."""
    judgments: list[ImportedJudgments]
    """Human judgments, an entry for each import."""
    scores: list[ImportedScoresOfMetric]
    """Scores that were made elsewhere."""


class CampaignImportedResponse(Document):
    """What came in with a campaign, or what would."""

    name: str
    """Its name here."""
    stored: bool
    """false for a preview: nothing was stored."""
    test_sets: int
    """Test sets, in all versions."""
    submissions: int
    """Outputs."""
    judgments: int
    """Imports of human judgments."""
    imported: int
    """Metrics whose scores were made elsewhere."""
    by_test_set: list[ImportedTestSet]
    """Each test set with what belongs to it."""
    notices: list[str]
    """What was left out, a sentence each."""
