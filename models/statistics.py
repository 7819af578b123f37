"""Statistics: what shards leave behind."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Integer, LargeBinary, SmallInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base


class ShardResult:
    """The key of what one shard stored for one evaluation and one metric of its protocol."""

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True)
    metric: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    """Position in the protocol's list of metrics."""
    first_block: Mapped[int] = mapped_column(Integer, primary_key=True)
    last_block: Mapped[int] = mapped_column(Integer)
    """Exclusive."""
    blob: Mapped[bytes] = mapped_column(LargeBinary)
    """Nothing where the bytes lie in an object (`models.blobs`)."""
    object_url: Mapped[str | None] = mapped_column(String(500))
    """The address of that object."""


class Statistics(ShardResult, Base):
    """The (segments × columns) statistics of a shard, packed by models.arrays."""

    __tablename__ = "statistics"


class ReplicatePart(ShardResult, Base):
    """Sums of a large shard: row 0 the plain sums, then one row per replicate (× columns)."""

    __tablename__ = "replicate_part"
