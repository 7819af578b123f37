"""Why a submission is not taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass
from scheduler.errors import SchedulerError


class NotTakingPart(SchedulerError):
    """The team, or whoever hands in for it, does not take part in the campaign."""


class PhaseClosed(SchedulerError):
    """The campaign takes no submissions now."""

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
        """When it will take some again, by the database's clock; None where that is not known."""
        self.closed_at = closed_at
        self.time_zone = time_zone
        """That of the campaign, in which the message tells times."""


class ReusedKey(SchedulerError):
    """A request of this key had other content. Give each request a key of its own."""
