"""Test sets: source segments, named references, documents."""

from __future__ import annotations

from sqlalchemy import Boolean, ForeignKey, Index, Integer, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Key, Seconds, now


class TestSet(Base):
    """A test set, known by its content and never changed.

    Campaigns with equal content share it without knowing of each other: each calls it by a name and version of its own
    (`models.campaign.CampaignTestSet`).
    """

    __test__ = False  # pytest would take the name for a test case
    __tablename__ = "test_set"

    id: Mapped[Key]
    content_hash: Mapped[str] = mapped_column(String(64), unique=True)
    source_language: Mapped[str] = mapped_column(String(35))
    target_language: Mapped[str] = mapped_column(String(35))
    source_text_id: Mapped[int | None] = mapped_column(ForeignKey("text.id"))
    segments: Mapped[int] = mapped_column(Integer)
    variable_references: Mapped[bool] = mapped_column(Boolean)
    """True when an empty line in a reference means that the segment lacks it."""
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
    """A run of consecutive segments that belong together."""

    __tablename__ = "document"

    test_set_id: Mapped[int] = mapped_column(ForeignKey("test_set.id", ondelete="CASCADE"), primary_key=True)
    first_segment: Mapped[int] = mapped_column(Integer, primary_key=True)
    segments: Mapped[int] = mapped_column(Integer)
    name: Mapped[str] = mapped_column(String(500))
    domain: Mapped[str] = mapped_column(String(100), default="")
    test_suite: Mapped[str] = mapped_column(String(200), server_default="", default="")
    """Empty for documents of the test set itself."""
