"""Reductions: adding up the shards of evaluations that became complete together."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base
from models.lease import Leased, lease_indexes
from models.states import LeaseState, one_of


class Reduction(Leased, Base):
    """The step from statistics to scores, for the evaluations that point at it."""

    __tablename__ = "reduction"
    __table_args__ = (
        CheckConstraint(one_of("state", LeaseState), name="state"),
        Index(None, "protocol_id"),
        *lease_indexes("reduction"),
    )

    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"))
