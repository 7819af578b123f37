"""Uploads that come in pieces, so that a connection that breaks costs only the last one."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Key, Seconds, now


class Upload(Base):
    """A file on its way in."""

    __tablename__ = "upload"
    __table_args__ = (
        CheckConstraint("received >= 0 AND received <= size", name="received"),
        Index(None, "account_id"),
        Index(None, "expires_at"),
    )

    id: Mapped[Key]
    secret: Mapped[str] = mapped_column(String(64), unique=True)
    """What it is called in addresses: cannot be guessed."""
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200), server_default="", default="")
    size: Mapped[int] = mapped_column(BigInteger)
    """Bytes that were announced."""
    sha256: Mapped[str | None] = mapped_column(String(64))
    """What was announced of its content, where that was said."""
    received: Mapped[int] = mapped_column(BigInteger, server_default="0", default=0)
    created_at: Mapped[Seconds] = mapped_column(default=now())
    expires_at: Mapped[Seconds]


class UploadPart(Base):
    """Consecutive bytes of an upload."""

    __tablename__ = "upload_part"

    upload_id: Mapped[int] = mapped_column(ForeignKey("upload.id", ondelete="CASCADE"), primary_key=True)
    begin: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)
