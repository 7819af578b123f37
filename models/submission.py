"""Submissions."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Key, Seconds, now


class Submission(Base):
    """One system's hypotheses for one test set, in one campaign. Never changed."""

    __tablename__ = "submission"
    __table_args__ = (
        UniqueConstraint("campaign_id", "test_set_id", "system_id", "text_id"),
        Index(None, "test_set_id"),
        Index(None, "system_id"),
        Index(None, "text_id"),
    )

    id: Mapped[Key]
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"))
    test_set_id: Mapped[int] = mapped_column(ForeignKey("test_set.id"))
    system_id: Mapped[int] = mapped_column(ForeignKey("system.id"))
    text_id: Mapped[int] = mapped_column(ForeignKey("text.id"))
    created_at: Mapped[Seconds] = mapped_column(default=now())
