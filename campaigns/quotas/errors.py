"""What can be wrong with quotas."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from campaigns.quotas.usage import Standing
from scheduler.errors import SchedulerError


class BadQuota(SchedulerError):
    """A quota cannot be as it was asked for."""


class QuotaUsedUp(SchedulerError):
    """The team has used its quota."""

    def __init__(self, message: str, standings: Sequence[Standing] = ()) -> None:
        super().__init__(message)
        self.standings = tuple(standings)
        """The quotas that leave no room."""
