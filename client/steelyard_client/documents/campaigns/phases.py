"""Phases of a campaign."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from steelyard_client.documents.document import Document, Timestamp
from steelyard_client.vocabulary import Feedback, LateRule, PhaseKind

DATETIME_FORMAT = "2026-11-30T18:00 in the time zone of the campaign, or with an offset: 2026-11-30T18:00+01:00."

LocalDatetime = Field(max_length=40, description=DATETIME_FORMAT, examples=["2026-11-30T18:00"])


class PhaseResponse(Document):
    """A phase. Its times are given in UTC, and as local times in the campaign's time zone."""

    id: int
    """Its number."""
    name: str
    """Its name, unique in the campaign."""
    kind: PhaseKind
    """Its kind."""
    starts_at: Timestamp
    """When it begins; null for always."""
    starts: str
    """The same, in the time zone of the campaign."""
    ends_at: Timestamp | None
    """The deadline: the first instant that is too late."""
    ends: str | None
    """When submissions close, in the time zone of the campaign."""
    late: LateRule
    """What happens to late submissions."""
    grace_seconds: float
    """Length of the grace period for late submissions, in seconds."""
    feedback: Feedback
    """How precisely scores are disclosed while it is open."""
    feedback_step: float
    """The step that scores are rounded to, or must improve by; null where the feedback has none."""
    now: bool
    """Whether it has begun and is not over."""
    takes_submissions: bool
    """Whether teams can submit in it now."""


class PhaseUpdate(Document):
    """Changes to a phase; omitted fields stay unchanged."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(default=None, max_length=100)
    """Its new name."""
    kind: PhaseKind | None = None
    """Its kind."""
    starts: str | None = Field(default=None, max_length=40, description=DATETIME_FORMAT)
    ends: str | None = Field(default=None, max_length=40, description=DATETIME_FORMAT + ' "" for no deadline.')
    late: LateRule | None = None
    """What happens to late submissions."""
    grace_seconds: float | None = None
    """How long after the deadline late submissions are accepted and flagged."""
    feedback: Feedback | None = None
    """What teams see of their own scores in a blind phase."""
    feedback_step: float | None = None
    """In points on the scale from 0 to 100."""


class PhaseCreate(PhaseUpdate):
    """A new phase."""

    name: str = Field(max_length=100)
    """Its name, unique in the campaign."""
    kind: PhaseKind
    """Its kind."""
    starts: str = LocalDatetime


class PhaseExtend(Document):
    """A later deadline for a phase."""

    model_config = ConfigDict(extra="forbid")

    ends: str = LocalDatetime
