"""What teams say about their submissions, and what was noticed about them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, CheckConstraint, Double, ForeignKey, Index, Integer, String, text
from sqlalchemy import Text as LongString
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Seconds
from models.roles import DeclaredKind
from models.states import one_of

PRIMARY = text("kind = 'primary' AND withdrawn_at IS NULL")


class Declaration(Base):
    """What a team says about a submission. A submission without one was stored by organisers' commands."""

    __tablename__ = "declaration"
    __table_args__ = (
        CheckConstraint(one_of("kind", DeclaredKind), name="kind"),
        # The columns beside `kind` are copies, so that the database itself sees to it that there is one primary.
        Index(
            "uq_declaration_primary",
            *("campaign_id", "test_set_id", "team"),
            unique=True,
            postgresql_where=PRIMARY,
            sqlite_where=PRIMARY,
        ),
        Index(None, "account_id"),
    )

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), primary_key=True)
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    test_set_id: Mapped[int] = mapped_column(ForeignKey("test_set.id"))
    team: Mapped[str] = mapped_column(String(100))
    account_id: Mapped[int | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"))
    """Who handed it in; None for the command line."""
    kind: Mapped[str] = mapped_column(String(16), server_default="", default=DeclaredKind.UNDECLARED)
    constrained: Mapped[bool | None]
    """Whether only the data that the campaign allows were used; None where the team has not said."""
    description: Mapped[str] = mapped_column(LongString, server_default="", default="")
    phase: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """The phase in which it was handed in."""
    late_seconds: Mapped[float] = mapped_column(Double, server_default="0", default=0.0)
    """How long after the deadline it came; 0 where it was in time."""
    withdrawn_at: Mapped[Seconds | None]


class Diagnosis(Base):
    """What was noticed about a submission when it came."""

    __tablename__ = "diagnosis"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), primary_key=True)
    findings: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """As `web.diagnosis` writes them; empty where there is nothing to say."""


class LadderStep(Base):
    """What a team was told of a submission by the Ladder rule: written once, when it is done."""

    __tablename__ = "ladder_step"
    __table_args__ = (Index(None, "protocol_id", "team"),)

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), primary_key=True)
    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"), primary_key=True)
    metric: Mapped[int] = mapped_column(Integer, primary_key=True)
    team: Mapped[str] = mapped_column(String(100))
    told: Mapped[float | None] = mapped_column(Double)
    """On the metric's own scale; None where its score is undefined."""
    improved: Mapped[bool]
