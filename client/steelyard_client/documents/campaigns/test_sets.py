"""Test sets of a campaign, and what is measured on them."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from steelyard_client.documents.document import Document, Timestamp
from steelyard_client.vocabulary import ResamplingUnit


class MeasureResponse(Document):
    """A list of references, and the metrics measured against it."""

    references: list[str]
    """Labels of the references."""
    metrics: list[str]
    """Specifications of the metrics."""
    replicates: int
    """Number of bootstrap replicates."""
    seed: int
    """Seed of the resampling."""
    resample: ResamplingUnit
    """What replicates draw and randomization tests exchange: segments, or whole documents."""


class TestSetResponse(Document):
    """A test set of a campaign."""

    id: int
    """Its number."""
    name: str
    """Its name."""
    version: str
    """The version of the test set."""
    segments: int
    """Number of segments of the test set."""
    source_language: str
    """Code of the source language."""
    target_language: str
    """Code of the target language."""
    references: list[str]
    """Labels."""
    phase: str
    """The only phase that accepts submissions for it; "" for all phases."""
    source_visible: bool
    """Whether the account may see its source."""
    references_visible: bool
    """Whether the account may see its references."""
    released_at: Timestamp | None
    """When its references were released."""
    replaced_by: int | None
    """The version with corrected references that replaced it."""
    measures: list[MeasureResponse]
    """What is measured on it: references, metrics and resampling."""


class TestSetCreatedResponse(TestSetResponse):
    """A test set that was just created or extended."""

    notices: list[str]
    """Warnings about its files, one sentence each."""


class TestSetUpdate(Document):
    """Changes to a test set; omitted fields stay unchanged."""

    __test__ = False
    model_config = ConfigDict(extra="forbid")

    phase: str | None = Field(default=None, max_length=100)
    """Name of the only phase that accepts submissions for it; "" for all phases."""
    released: bool | None = None
    """Whether everyone who sees the campaign may see its references."""
    early: bool = False
    """Allow the release while submissions are still accepted."""


class MeasuresCreate(Document):
    """Metrics and references to measure in addition."""

    model_config = ConfigDict(extra="forbid")

    metrics: list[str] = Field(min_length=1, max_length=50)
    """Specifications of the metrics to add."""
    references: list[list[str]] = Field(default=[], max_length=50)
    """Lists of labels; by default each reference alone, then all together."""
    replicates: int = Field(default=1000, ge=0, le=100_000)
    """Number of bootstrap replicates."""
    seed: int = Field(default=12345, ge=0, lt=2**63)
    """Seed of the resampling."""
    resample: ResamplingUnit | None = None
    """What replicates draw and randomization tests exchange: segments, or whole documents; by default what those on the
    same references do already, else segments."""
