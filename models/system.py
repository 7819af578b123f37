"""Machine translation systems."""

from __future__ import annotations

from sqlalchemy import String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Key


class System(Base):
    """A named system of a team; the team is "" where there are no teams."""

    __tablename__ = "system"
    __table_args__ = (UniqueConstraint("team", "name"),)

    id: Mapped[Key]
    name: Mapped[str] = mapped_column(String(200))
    team: Mapped[str] = mapped_column(String(100), default="")
