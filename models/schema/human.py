"""Tables of human judgments: ratings, and the scores made of them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Double,
    ForeignKey,
    Index,
    Integer,
    String,
    UniqueConstraint,
    false,
)

from models.schema.base import Base, Key, Seconds, now
from models.schema.column_types import EnumText, JsonOf
from models.schema.declarative import Mapped, mapped_column
from models.schema.states import JudgmentKind, one_of


class Judgments(Base):
    """One import of human judgments of a test set in a campaign.

    Immutable: different content under the name is a new version. They belong to the campaign: another campaign with the
    same test set has its own and cannot see these.
    """

    __tablename__ = "judgments"
    __table_args__ = (
        UniqueConstraint("campaign_id", "test_set_id", "name", "version"),
        UniqueConstraint("campaign_id", "test_set_id", "name", "content_hash"),
        Index(None, "test_set_id"),
        CheckConstraint(one_of("kind", JudgmentKind), name="kind"),
    )

    id: Mapped[Key]
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    test_set_id: Mapped[int] = mapped_column(ForeignKey("test_set.id"))
    name: Mapped[str] = mapped_column(String(100))
    version: Mapped[int] = mapped_column(Integer)
    """From 1."""
    kind: Mapped[JudgmentKind] = mapped_column(EnumText(JudgmentKind))
    method: Mapped[dict[str, Any]] = mapped_column(JsonOf(dict[str, Any], "How scores were made of judgments"))
    """How scores were computed, e.g. the weights of errors, or whether they were standardised by annotator."""
    content_hash: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[Seconds] = mapped_column(default=now())


class JudgedPart:
    """The key columns of everything that belongs to one import."""

    judgments_id: Mapped[int] = mapped_column(
        ForeignKey("judgments.id", ondelete="CASCADE"), primary_key=True, sort_order=-2
    )
    system: Mapped[str] = mapped_column(String(200), primary_key=True, sort_order=-1)
    """The name in the judgments, which may be a reference or a system without a submission."""


class HumanSystemScore(JudgedPart, Base):
    """The human score of a system."""

    __tablename__ = "human_system_score"

    score: Mapped[float] = mapped_column(Double)
    """Higher is better, whatever the scale."""
    raw: Mapped[float | None] = mapped_column(Double)
    """On the annotators' own scale."""
    segments: Mapped[int | None] = mapped_column(Integer)
    judgments: Mapped[int | None] = mapped_column(Integer)
    wins: Mapped[int | None] = mapped_column(Integer)
    """The published number of systems that it beats; None if that follows from its segments."""


class HumanSegmentScore(JudgedPart, Base):
    """The human score of one segment of a system."""

    __tablename__ = "human_segment_score"

    segment: Mapped[int] = mapped_column(Integer, primary_key=True)
    """From 0."""
    score: Mapped[float] = mapped_column(Double)
    """Higher is better, on the scale of the system's score."""
    raw: Mapped[float | None] = mapped_column(Double)
    """On the annotators' own scale."""
    judgments: Mapped[int | None] = mapped_column(Integer)


class Rating(Base):
    """One annotator's rating of a segment, an error found in it, or its rank."""

    __tablename__ = "rating"

    judgments_id: Mapped[int] = mapped_column(ForeignKey("judgments.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(Integer, primary_key=True)
    """Position in the import."""
    annotator: Mapped[str] = mapped_column(String(200))
    system: Mapped[str] = mapped_column(String(200))
    segment: Mapped[int] = mapped_column(Integer)
    value: Mapped[float] = mapped_column(Double)
    """The rating, the weight of an error, or the rank, from 1 = best."""
    label: Mapped[str] = mapped_column(String(200), default="", server_default="")
    """The category and severity of an error, or the identifier of a ranking."""
    wave: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    """From 0; judgments of different waves are never averaged."""
    seconds: Mapped[float | None] = mapped_column(Double)
    """How long the annotator took."""


class ErrorSpan(Base):
    """An error that an annotator marked in a segment of a system's output."""

    __tablename__ = "error_span"
    __table_args__ = (Index(None, "judgments_id", "segment"),)

    judgments_id: Mapped[int] = mapped_column(ForeignKey("judgments.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(Integer, primary_key=True)
    """Position in the import."""
    annotator: Mapped[str] = mapped_column(String(200))
    system: Mapped[str] = mapped_column(String(200))
    segment: Mapped[int] = mapped_column(Integer)
    begins: Mapped[int] = mapped_column(Integer)
    """In code points, from 0."""
    ends: Mapped[int] = mapped_column(Integer)
    """The first code point behind it."""
    severity: Mapped[str] = mapped_column(String(200))
    category: Mapped[str] = mapped_column(String(200))
    missing: Mapped[bool] = mapped_column(Boolean, default=False, server_default=false())
    """Something is missing from the translation: there is no position."""
    in_source: Mapped[bool] = mapped_column(Boolean, default=False, server_default=false())
    """Marked in the source."""
    wave: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
