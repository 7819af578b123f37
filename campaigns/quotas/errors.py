"""Errors about quotas."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from campaigns.quotas.usage import QuotaUsage
from scheduler.errors import SchedulerError


class BadQuota(SchedulerError):
    """The quota is invalid."""


class QuotaUsedUp(SchedulerError):
    """The team has used its quota."""

    def __init__(self, message: str, usage: Sequence[QuotaUsage] = ()) -> None:
        super().__init__(message)
        self.usage = tuple(usage)
        """The exhausted quotas."""
