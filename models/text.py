"""The texts: every source, reference and system output, stored once."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Integer, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Key


class Text(Base):
    """One text of n segments, known by the hash of its lines (each ended by a newline) and of its layers, if any."""

    __tablename__ = "text"

    id: Mapped[Key]
    sha256: Mapped[str] = mapped_column(String(64), unique=True)
    segments: Mapped[int] = mapped_column(Integer)
    bytes: Mapped[int] = mapped_column(Integer)


class TextBlock(Base):
    """256 consecutive segments of a text (fewer in the last block), joined by newlines."""

    __tablename__ = "text_block"

    text_id: Mapped[int] = mapped_column(ForeignKey("text.id", ondelete="CASCADE"), primary_key=True)
    block: Mapped[int] = mapped_column(Integer, primary_key=True)
    # Bytes, since PostgreSQL's text type refuses U+0000 and a system may well have written one.
    content: Mapped[bytes] = mapped_column(LargeBinary)


class LayerBlock(Base):
    """256 consecutive segments of a linguistic layer of a text, such as its lemmas, joined by newlines."""

    __tablename__ = "layer_block"

    text_id: Mapped[int] = mapped_column(ForeignKey("text.id", ondelete="CASCADE"), primary_key=True)
    layer: Mapped[str] = mapped_column(String(50), primary_key=True)
    block: Mapped[int] = mapped_column(Integer, primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)
