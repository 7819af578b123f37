"""What a zip holds of a campaign, as plain data: it is read in the sandbox, and stored outside of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from campaigns.score_imports.reading import PackedScores
from campaigns.score_imports.versions import ScoreFile
from models.corpus.judgments import NewJudgments
from steelyard.formats.campaign.folder import CampaignFolder
from steelyard.formats.plain import Text
from steelyard.meta_evaluation.human.judgments import Judged


@dataclass(frozen=True, slots=True)
class ReadTestSet:
    """A test set; `title` is what the others call it."""

    title: str
    folder: CampaignFolder
    """Its texts, without systems; without any text where scores alone were imported."""
    segments: int
    version: str = "1"
    phase: str = ""
    released_at: float | None = None
    replaced_by: str = ""
    """The title of the one with corrected references."""


@dataclass(frozen=True, slots=True)
class ReadSubmission:
    """An output."""

    number: str
    """What imported scores call it."""
    test_set: str
    team: str
    system: str
    run: str
    text: Text | None
    """None where only scores of it are known."""
    declared: Mapping[str, Any] | None = None
    """Kind, constrained, description, phase, lateness and withdrawal; None without a declaration."""
    created_at: float | None = None


@dataclass(frozen=True, slots=True)
class ReadProtocol:
    """What is measured on a test set."""

    test_set: str
    references: tuple[str, ...]
    metrics: tuple[str, ...]
    replicates: int
    seed: int
    resample: str


@dataclass(frozen=True, slots=True)
class ReadScores:
    """A version of imported scores, as its table has it."""

    test_set: str
    values: Mapping[str, Any]
    """Columns of `models.schema.imported.ScoreImport`."""
    statistics: Mapping[str, tuple[tuple[float, ...], ...]]
    """Submission -> the statistics of each segment."""


@dataclass(frozen=True, slots=True)
class CampaignContent:
    """A campaign; an export has its rules, phases and everything stored, a folder of pairs scores in files."""

    name: str
    test_sets: Sequence[ReadTestSet]
    submissions: Sequence[ReadSubmission]
    rules: Mapping[str, Any] = field(default_factory=dict)
    terms: Sequence[Mapping[str, Any]] = ()
    """All versions, the oldest first."""
    phases: Sequence[Mapping[str, Any]] = ()
    protocols: Sequence[ReadProtocol] = ()
    judgments: Sequence[tuple[str, NewJudgments]] = ()
    """With their test sets, as they were stored."""
    judged: Sequence[tuple[str, str, Judged]] = ()
    """Test set, name, and judgments whose names are matched with systems."""
    scores: Sequence[ReadScores] = ()
    score_tables: Sequence[PackedScores] = ()
    score_files: Sequence[ScoreFile] = ()
    corrections: Sequence[Mapping[str, str]] = ()
    descriptions: str = ""
    """What is said of systems: a table as `campaigns.systems.descriptions` reads it."""
    spelt: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By test set: how files of scores and judgments spell its pair otherwise."""
    notices: Sequence[str] = ()
