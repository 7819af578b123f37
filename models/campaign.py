"""Campaigns."""

from __future__ import annotations

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Key, Seconds, now


class Campaign(Base):
    """Many submissions under one set of rules, known by a name."""

    __tablename__ = "campaign"

    id: Mapped[Key]
    name: Mapped[str] = mapped_column(String(200), unique=True)
    phase: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """What its organisers call the time it is in now; "" where it has no phases."""
    created_at: Mapped[Seconds] = mapped_column(default=now())
