"""Tables of texts, test sets, systems, submissions and protocols."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    UniqueConstraint,
    false,
)

from models.schema.base import Base, Key, Seconds, now
from models.schema.column_types import EnumText, JsonOf
from models.schema.declarative import Mapped, mapped_column
from models.schema.states import ResamplingUnit, one_of


class Text(Base):
    """A text of n segments, identified by the hash of its lines (each ended by a newline) and of its layers, if any."""

    __tablename__ = "text"

    id: Mapped[Key]
    sha256: Mapped[str] = mapped_column(String(64), unique=True)
    segments: Mapped[int] = mapped_column(Integer)
    bytes: Mapped[int] = mapped_column(Integer)


class TextBlock(Base):
    """256 consecutive segments of a text (fewer in the last block), joined by newlines."""

    __tablename__ = "text_block"

    text_id: Mapped[int] = mapped_column(ForeignKey("text.id", ondelete="CASCADE"), primary_key=True)
    block: Mapped[int] = mapped_column(Integer, primary_key=True)
    # Bytes, since PostgreSQL's text type rejects U+0000 and system outputs may contain it.
    content: Mapped[bytes] = mapped_column(LargeBinary)


class LayerBlock(Base):
    """256 consecutive segments of a linguistic layer of a text, such as its lemmas, joined by newlines."""

    __tablename__ = "layer_block"

    text_id: Mapped[int] = mapped_column(ForeignKey("text.id", ondelete="CASCADE"), primary_key=True)
    layer: Mapped[str] = mapped_column(String(50), primary_key=True)
    block: Mapped[int] = mapped_column(Integer, primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class TestSet(Base):
    """A test set, identified by its content; immutable.

    Campaigns with equal content share it: each has a name and version of its own for it
    (`models.schema.campaigns.CampaignTestSet`).
    """

    __test__ = False  # else pytest would collect it
    __tablename__ = "test_set"

    id: Mapped[Key]
    content_hash: Mapped[str] = mapped_column(String(64), unique=True)
    source_language: Mapped[str] = mapped_column(String(35))
    target_language: Mapped[str] = mapped_column(String(35))
    source_text_id: Mapped[int | None] = mapped_column(ForeignKey("text.id"))
    segments: Mapped[int] = mapped_column(Integer)
    variable_references: Mapped[bool] = mapped_column(Boolean)
    """True if an empty line in a reference means that the segment has no such reference."""
    created_at: Mapped[Seconds] = mapped_column(default=now())


class Reference(Base):
    """A named human translation of a test set."""

    __tablename__ = "reference"
    __table_args__ = (UniqueConstraint("test_set_id", "position"), Index(None, "text_id"))

    test_set_id: Mapped[int] = mapped_column(ForeignKey("test_set.id", ondelete="CASCADE"), primary_key=True)
    label: Mapped[str] = mapped_column(String(100), primary_key=True)
    position: Mapped[int] = mapped_column(Integer)
    text_id: Mapped[int] = mapped_column(ForeignKey("text.id"))


class Document(Base):
    """A range of consecutive segments that belong together."""

    __tablename__ = "document"

    test_set_id: Mapped[int] = mapped_column(ForeignKey("test_set.id", ondelete="CASCADE"), primary_key=True)
    first_segment: Mapped[int] = mapped_column(Integer, primary_key=True)
    segments: Mapped[int] = mapped_column(Integer)
    name: Mapped[str] = mapped_column(String(500))
    domain: Mapped[str] = mapped_column(String(100), default="")
    test_suite: Mapped[str] = mapped_column(String(200), server_default="", default="")
    """Empty for documents of the test set itself."""
    segment_ids: Mapped[list[str] | None] = mapped_column(
        JsonOf(list[str], "The segment ids of a document", none_as_null=True)
    )
    """The ids of its segments, in order; None where the format that the test set came in names none."""


class System(Base):
    """A named system of a team; the team is "" if there are none."""

    __tablename__ = "system"
    __table_args__ = (UniqueConstraint("team", "name"),)

    id: Mapped[Key]
    name: Mapped[str] = mapped_column(String(200))
    team: Mapped[str] = mapped_column(String(100), default="")


class Submission(Base):
    """One run of a system: its hypotheses for one test set in one campaign. Immutable."""

    __tablename__ = "submission"
    __table_args__ = (
        UniqueConstraint("campaign_id", "test_set_id", "system_id", "run", "text_id"),
        Index(None, "test_set_id"),
        Index(None, "system_id"),
        # Equal outputs of a test set. By `test_set_id` alone, SQLite would compare each with all.
        Index(None, "text_id", "test_set_id", "campaign_id"),
    )

    id: Mapped[Key]
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"))
    test_set_id: Mapped[int] = mapped_column(ForeignKey("test_set.id"))
    system_id: Mapped[int] = mapped_column(ForeignKey("system.id"))
    run: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """Which of several runs (seeds, optimizer runs) of the system this is; "" for a single run."""
    text_id: Mapped[int] = mapped_column(ForeignKey("text.id"))
    created_at: Mapped[Seconds] = mapped_column(default=now())


class Protocol(Base):
    """A test set, an ordered list of its references, metrics, replicates, what these draw, and seed.

    Evaluations are comparable only within one protocol. Identified by its content, so it is stored once.
    """

    __tablename__ = "protocol"
    __table_args__ = (Index(None, "test_set_id"), CheckConstraint(one_of("resample", ResamplingUnit), name="resample"))

    id: Mapped[Key]
    test_set_id: Mapped[int] = mapped_column(ForeignKey("test_set.id"))
    reference_labels: Mapped[list[str]] = mapped_column(JsonOf(list[str], "The references of a protocol"))
    metrics: Mapped[list[str]] = mapped_column(JsonOf(list[str], "The metrics of a protocol"))
    """Metric specifications such as "bleu:order=1,2"; a metric's position here is its key elsewhere."""
    replicates: Mapped[int] = mapped_column(Integer)
    seed: Mapped[int] = mapped_column(BigInteger)
    resample: Mapped[ResamplingUnit] = mapped_column(
        EnumText(ResamplingUnit), default=ResamplingUnit.SEGMENT, server_default="segment"
    )
    """What replicates draw and randomization tests exchange: segments or documents."""
    content_hash: Mapped[str] = mapped_column(String(64), unique=True)
    sweep: Mapped[bool] = mapped_column(Boolean, default=False, server_default=false())
    """Whether its metrics are one metric with many values of a parameter; such a sweep has no leaderboard."""
