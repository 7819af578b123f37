"""The audit log."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from steelyard_client.documents.document import Document, Timestamp


class AuditEntryResponse(Document):
    """A change in the audit log."""

    id: int
    """Its number."""
    at: Timestamp = Field(description="When it was made.")
    actor: str = Field(description='The address of the account, "command line", or "nobody".')
    address: str = Field(description="The network address; empty for anyone but administrators.")
    action: str
    """What was done, as a code."""
    subject: str
    """What it was done to."""
    campaign: str | None
    """Name of the campaign; null where it concerns none."""
    details: dict[str, Any]
    """What changed, by name."""
