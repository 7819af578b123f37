"""Why a submission is rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass
from scheduler.errors import SchedulerError


class NotTakingPart(SchedulerError):
    """The team, or the submitting account, does not take part in the campaign."""


class PhaseClosed(SchedulerError):
    """The campaign accepts no submissions now."""

    def __init__(
        self,
        message: str | None = None,
        *,
        opens_at: float | None = None,
        closed_at: float | None = None,
        time_zone: str = "UTC",
    ) -> None:
        super().__init__(message)
        self.opens_at = opens_at
        """When it will accept submissions, by the database's clock; None if unknown."""
        self.closed_at = closed_at
        self.time_zone = time_zone
        """The campaign's, in which the message gives times."""


class ReusedKey(SchedulerError):
    """A request with this key had other content. Use a new key for each request."""
