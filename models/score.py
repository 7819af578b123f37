"""Scores: what reductions leave behind."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Double, ForeignKey, LargeBinary, SmallInteger, String
from sqlalchemy import Text as LongString
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base


class Score(Base):
    """The score of one evaluation by one metric. The key makes a second one impossible."""

    __tablename__ = "score"

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True)
    metric: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    """Position in the protocol's list of metrics."""
    specification: Mapped[str] = mapped_column(String(500))
    title: Mapped[str] = mapped_column(String(100))
    signature: Mapped[str] = mapped_column(LongString)
    higher_is_better: Mapped[bool] = mapped_column(Boolean)
    scale: Mapped[float] = mapped_column(Double)
    columns: Mapped[list[str]] = mapped_column(JSON)
    """What each of the sums counts."""
    sums: Mapped[bytes] = mapped_column(LargeBinary)
    score: Mapped[float | None] = mapped_column(Double)
    """None where the metric is undefined."""
    details: Mapped[dict[str, float]] = mapped_column(JSON, server_default="{}")
    """Further figures to show with the score, by name."""
    replicate_scores: Mapped[bytes] = mapped_column(LargeBinary)
    """float64, one per replicate; NaN where undefined."""
