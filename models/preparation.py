"""What is counted in the references of a test set before any shard can be scored, once for all submissions."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, CheckConstraint, ForeignKey, Index, Integer, LargeBinary, String, text
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Key
from models.lease import Leased, lease_indexes
from models.states import LeaseState, one_of

OPEN = text("blob IS NULL")
"""What is still to be made."""


class PreparedState(Base):
    """The state that metrics need of a set of reference texts. Known by its content, so it is stored once."""

    __tablename__ = "prepared_state"
    __table_args__ = (Index("ix_prepared_state_open", "edition", postgresql_where=OPEN, sqlite_where=OPEN),)

    id: Mapped[Key]
    content_hash: Mapped[str] = mapped_column(String(64), unique=True)
    """SHA-256 of all that the state depends on: the reference texts, whatever their order, the key, the edition."""
    key: Mapped[str] = mapped_column(String(200))
    """What is counted, and how; metrics with the same key share the state."""
    metric: Mapped[str] = mapped_column(String(500))
    """The specification of a metric that needs it, which knows how to make it."""
    reference_texts: Mapped[list[int]] = mapped_column(JSON)
    variable_references: Mapped[bool] = mapped_column(Boolean)
    segments: Mapped[int] = mapped_column(Integer)
    edition: Mapped[int] = mapped_column(Integer, server_default="1", default=1)
    """The edition of the numbers by which it is counted."""
    blob: Mapped[bytes | None] = mapped_column(LargeBinary)
    """The state, compressed by zlib; None until it is complete, empty where it is in chapters."""


class PreparedChapter(Base):
    """What a large state says of a run of blocks: shards read what they need of it."""

    __tablename__ = "prepared_chapter"

    prepared_state_id: Mapped[int] = mapped_column(
        ForeignKey("prepared_state.id", ondelete="CASCADE"), primary_key=True
    )
    first_block: Mapped[int] = mapped_column(Integer, primary_key=True)
    last_block: Mapped[int] = mapped_column(Integer)
    """Exclusive."""
    blob: Mapped[bytes] = mapped_column(LargeBinary)
    """Compressed by zlib."""


class ProtocolState(Base):
    """Which states the shards of a protocol wait for."""

    __tablename__ = "protocol_state"
    __table_args__ = (Index(None, "prepared_state_id"),)

    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id", ondelete="CASCADE"), primary_key=True)
    prepared_state_id: Mapped[int] = mapped_column(ForeignKey("prepared_state.id"), primary_key=True)


class Preparation(Leased, Base):
    """Counting a run of blocks of the references, or merging what was counted into the state."""

    __tablename__ = "preparation"
    __table_args__ = (
        CheckConstraint(one_of("state", LeaseState), name="state"),
        Index(None, "prepared_state_id"),
        *lease_indexes("preparation"),
    )

    prepared_state_id: Mapped[int] = mapped_column(ForeignKey("prepared_state.id"))
    first_block: Mapped[int] = mapped_column(Integer)
    last_block: Mapped[int] = mapped_column(Integer)
    """Exclusive."""
    merges: Mapped[bool] = mapped_column(Boolean, default=False)
    # The last column: SQLite reads a row up to the column that is asked for, and parts have megabytes.
    part: Mapped[bytes | None] = mapped_column(LargeBinary, sort_order=1)
    """What was counted, compressed by zlib, until it is merged."""
