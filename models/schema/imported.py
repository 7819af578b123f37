"""Tables of scores that were made elsewhere."""

from __future__ import annotations

from sqlalchemy import Boolean, ForeignKey, Index, Integer, LargeBinary, String, UniqueConstraint

from models.schema.base import Base, Key, Seconds, now
from models.schema.column_types import JsonOf
from models.schema.declarative import Mapped, mapped_column


class ScoreImport(Base):
    """One version of a metric's scores of a campaign's systems on one test set, made elsewhere."""

    __tablename__ = "score_import"
    __table_args__ = (
        UniqueConstraint("campaign_id", "test_set_id", "name", "version"),
        Index(None, "test_set_id"),
        Index(None, "account_id"),
    )

    id: Mapped[Key]
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    test_set_id: Mapped[int] = mapped_column(ForeignKey("test_set.id"))
    name: Mapped[str] = mapped_column(String(100))
    version: Mapped[str] = mapped_column(String(30))
    specification: Mapped[str] = mapped_column(String(500))
    """As protocols name the column (`steelyard.metrics.without_texts.imported`)."""
    content_hash: Mapped[str] = mapped_column(String(64))
    """SHA-256 of all scores, and of which are better."""
    level: Mapped[str] = mapped_column(String(16))
    """Of what there are scores: segment, document or system."""
    higher_is_better: Mapped[bool] = mapped_column(Boolean)
    systems: Mapped[int] = mapped_column(Integer)
    """With at least one score."""
    files: Mapped[list[dict[str, str]]] = mapped_column(JsonOf(list[dict[str, str]], "The files of an import"))
    """Name and sha256 of each."""
    notices: Mapped[list[str]] = mapped_column(JsonOf(list[str], "The notices of an import"))
    """What was missing, a sentence each."""
    account_id: Mapped[int | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"))
    actor: Mapped[str] = mapped_column(String(300))
    """Who imported it, in a form that outlives the account."""
    created_at: Mapped[Seconds] = mapped_column(default=now())


class ImportedScore(Base):
    """The scores of one output, as statistics of all segments (`Imported.statistics`)."""

    __tablename__ = "imported_score"
    __table_args__ = (Index(None, "submission_id"),)

    import_id: Mapped[int] = mapped_column(ForeignKey("score_import.id", ondelete="CASCADE"), primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), primary_key=True)
    blob: Mapped[bytes] = mapped_column(LargeBinary)
    """Packed by models.storage.arrays."""
