"""Schedules of recurring evaluations."""

from __future__ import annotations

from steelyard_client.documents.document import Document, Timestamp


class ScheduleResponse(Document):
    """A schedule of recurring evaluations."""

    name: str
    """Name of the schedule."""
    cron: str
    """When it runs, as a cron expression."""
    time_zone: str
    """Time zone of the cron expression."""
    next_at: Timestamp | None
    """When its next run is due; null for never."""
    overdue: bool
    """Whether its next run is due and no scheduler has started it."""
    metrics: list[str]
    """Specifications of the metrics."""
    runs: int
    """Number of its runs."""
    last_date: str | None
    """Date of the last run; null before the first one."""
    last_state: str | None
    """State of the last run; null before the first one."""
    last_regressed: bool | None
    """Whether the last run found a regression; null where unknown."""
