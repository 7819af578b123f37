"""The table of descriptions of systems."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ColumnElement, ForeignKey, Index, String, and_
from sqlalchemy import Text as LongString

from models.schema.base import Base, Seconds, now
from models.schema.column_types import EnumText
from models.schema.declarative import Mapped, mapped_column
from models.schema.roles import SystemOrigin, Weights
from models.schema.states import one_of


class SystemDescription(Base):
    """What is said of a system in a campaign, by its team or by organisers. Without a row nothing is said of it."""

    __tablename__ = "system_description"
    __table_args__ = (
        CheckConstraint(one_of("origin", SystemOrigin), name="origin"),
        CheckConstraint(one_of("weights", Weights), name="weights"),
        CheckConstraint("parameters IS NULL OR parameters > 0", name="parameters"),
        Index(None, "system_id"),
    )

    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True)
    system_id: Mapped[int] = mapped_column(ForeignKey("system.id", ondelete="CASCADE"), primary_key=True)
    origin: Mapped[SystemOrigin] = mapped_column(
        EnumText(SystemOrigin), server_default=SystemOrigin.TEAM, default=SystemOrigin.TEAM
    )
    description: Mapped[str] = mapped_column(LongString, server_default="", default="")
    """In Markdown."""
    affiliation: Mapped[str] = mapped_column(String(200), server_default="", default="")
    paper_url: Mapped[str] = mapped_column(String(500), server_default="", default="")
    url: Mapped[str] = mapped_column(String(500), server_default="", default="")
    parameters: Mapped[int | None] = mapped_column(BigInteger)
    """The number of its parameters; None if nobody has said."""
    weights: Mapped[Weights] = mapped_column(EnumText(Weights), server_default=Weights.UNKNOWN, default=Weights.UNKNOWN)
    constrained: Mapped[bool | None]
    """Whether it used only permitted training data, for submissions of which that is not declared."""
    changed_at: Mapped[Seconds] = mapped_column(default=now())


def is_described(campaign_id: Any, system_id: Any) -> ColumnElement[bool]:
    """Join condition: what is said of the system in the campaign in these columns."""
    return and_(SystemDescription.campaign_id == campaign_id, SystemDescription.system_id == system_id)
