"""Evaluations: one submission measured by one protocol."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    String,
    UniqueConstraint,
    text,
)
from sqlalchemy import Text as LongString
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Key, Seconds, now
from models.states import EvaluationState, QueueClass, one_of

FAILED = text("state = 'failed'")


class Evaluation(Base):
    """One submission × one protocol; there is never a second one."""

    __tablename__ = "evaluation"
    __table_args__ = (
        UniqueConstraint("submission_id", "protocol_id"),
        CheckConstraint(one_of("state", EvaluationState), name="state"),
        Index(None, "protocol_id"),
        Index(None, "reduction_id"),
        Index(None, "state"),
        Index(None, "finished_at"),
        Index("ix_evaluation_failed", "finished_at", "id", postgresql_where=FAILED, sqlite_where=FAILED),
    )

    id: Mapped[Key]
    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"))
    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"))
    queue_class: Mapped[int] = mapped_column(SmallInteger, default=int(QueueClass.CAMPAIGN))
    team: Mapped[str] = mapped_column(String(100), default="")
    """The team whose turn its shards take."""
    state: Mapped[str] = mapped_column(String(16), default=EvaluationState.QUEUED)
    remaining: Mapped[int] = mapped_column(Integer, default=0)
    """Shards that are not done yet."""
    reduction_id: Mapped[int | None] = mapped_column(ForeignKey("reduction.id"))
    reason: Mapped[str | None] = mapped_column(LongString)
    fault: Mapped[str | None] = mapped_column(String(16))
    """Of a failed one whose fault it was (`models.states.Fault`); of a cancelled one `input` where its
    attempt counts all the same."""
    due_at: Mapped[Seconds | None]
    """When somebody wants it done."""
    edition: Mapped[int] = mapped_column(Integer, server_default="1", default=1)
    """The edition of the numbers by which it is measured (`metrics.base.EDITION`)."""
    created_at: Mapped[Seconds] = mapped_column(default=now())
    started_at: Mapped[Seconds | None]
    finished_at: Mapped[Seconds | None]
