"""The audit log: who changed what, and when. Rows are only added, in the transaction of the change itself."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, insert

from models.schema.accounts import AuditEntry

COMMAND_LINE = "command line"
"""The actor of changes made by `steelyard` commands on the server itself."""


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
    """Record a change, in the transaction of the change."""
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
