"""The audit log: who changed what, when. Rows are only ever added, in the transaction of the change itself."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, Connection, ForeignKey, Index, String, insert
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Key, Seconds, now

COMMAND_LINE = "command line"
"""Who is said to have done what `steelyard` did on the server itself."""


class AuditEntry(Base):
    """One change."""

    __tablename__ = "audit_entry"
    __table_args__ = (Index(None, "campaign_id", "id"), Index(None, "account_id"))

    id: Mapped[Key]
    at: Mapped[Seconds] = mapped_column(default=now())
    account_id: Mapped[int | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"))
    actor: Mapped[str] = mapped_column(String(300))
    """Who, in words that outlive the account: its address, or "command line"."""
    address: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """From which network address."""
    action: Mapped[str] = mapped_column(String(100))
    """Such as "campaign.extend" or "submission.withdraw"."""
    subject: Mapped[str] = mapped_column(String(400))
    """What was changed, such as "submission 12"."""
    campaign_id: Mapped[int | None] = mapped_column(ForeignKey("campaign.id", ondelete="SET NULL"))
    details: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    """What was changed to what; never a secret, never a text of a test set."""


def write_audit(
    connection: Connection,
    *,
    actor: str,
    action: str,
    subject: str,
    account_id: int | None = None,
    address: str = "",
    campaign_id: int | None = None,
    **details: Any,
) -> None:
    """Note a change, in its own transaction."""
    connection.execute(
        insert(AuditEntry).values(
            account_id=account_id,
            actor=actor[:300],
            address=address[:100],
            action=action,
            subject=subject[:400],
            campaign_id=campaign_id,
            details=details,
        )
    )
