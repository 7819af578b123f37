"""What metrics were measured to cost: shards are cut by it."""

from __future__ import annotations

from sqlalchemy import Double, String
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Seconds, now


class MeasuredCost(Base):
    """The cost of one metric, learned from shards that were done. Results never depend on it."""

    __tablename__ = "measured_cost"

    specification: Mapped[str] = mapped_column(String(500), primary_key=True)
    microseconds: Mapped[float] = mapped_column(Double)
    """For one typical segment of one system, as a metric's own `cost`."""
    weight: Mapped[float] = mapped_column(Double)
    """How many such segments it was learned from; old ones count less."""
    updated_at: Mapped[Seconds] = mapped_column(default=now())
