"""Teams and who is in them.

Systems, ledgers and turns know a team by its name (`System.team`), which therefore never changes; what the public reads
is its publication name.
"""

from __future__ import annotations

from sqlalchemy import CheckConstraint, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Key, Seconds, now
from models.roles import TeamRole
from models.states import one_of


class Team(Base):
    """Those who hand in together."""

    __tablename__ = "team"

    id: Mapped[Key]
    name: Mapped[str] = mapped_column(String(100), unique=True)
    folded_name: Mapped[str] = mapped_column(String(400), unique=True)
    """`metrics.text.names.folded`: no two teams have names that people would take for the same."""
    publication_name: Mapped[str] = mapped_column(String(100), server_default="", default="")
    affiliation: Mapped[str] = mapped_column(String(200), server_default="", default="")
    created_at: Mapped[Seconds] = mapped_column(default=now())


class Membership(Base):
    """An account in a team."""

    __tablename__ = "membership"
    __table_args__ = (CheckConstraint(one_of("role", TeamRole), name="role"), Index(None, "account_id"))

    team_id: Mapped[int] = mapped_column(ForeignKey("team.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    role: Mapped[str] = mapped_column(String(16), default=TeamRole.MEMBER)
    joined_at: Mapped[Seconds] = mapped_column(default=now())
