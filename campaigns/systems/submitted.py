"""What organisers say of a system of no team when they submit its output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from models.database.upsert import upsert
from models.schema.base import database_time
from models.schema.corpus import Submission
from models.schema.systems import SystemDescription

if TYPE_CHECKING:
    from models.schema.roles import SystemOrigin


def describe_submitted(
    connection: Connection,
    campaign_id: int,
    submission: int,
    origin: SystemOrigin,
    constrained: bool | None,
    description: str,
) -> dict[str, Any]:
    """Store whose the system of a submission is; what is not said stays. Returns the columns for the audit log."""
    system = connection.execute(select(Submission.system_id).where(Submission.id == submission)).scalar_one()
    said: dict[str, Any] = {"origin": origin}
    if constrained is not None:
        said["constrained"] = constrained
    if description:
        said["description"] = description
    row = {"campaign_id": campaign_id, "system_id": system, "changed_at": database_time(connection), **said}
    upsert(connection, SystemDescription, [row], [*said, "changed_at"])
    return said
