"""Everything that can go wrong in this room, with one base."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.quotas import Standing


class SchedulerError(Exception):
    """Work cannot be taken in or handed out.

    The docstring of a subclass is its message when none is given.
    """

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class AlreadyRunning(SchedulerError):
    """Another process hands out the work of this database. Wait until it has ended, or stop it."""


class BadComparison(SchedulerError):
    """These systems cannot be compared."""


class BadIntake(SchedulerError):
    """What is to be stored does not fit together."""


class BadQuota(SchedulerError):
    """A quota cannot be as it was asked for."""


class OtherTables(SchedulerError):
    """The tables of the database have become those of another release."""


class ScheduleConflict(SchedulerError):
    """What was asked of a schedule does not go together with how it is."""


class BadSchedule(SchedulerError):
    """A schedule cannot be as it was asked for."""


class BadSource(SchedulerError):
    """The outputs of a night cannot be taken in."""


class NothingToDo(SchedulerError):
    """None of the evaluations that were asked for is in a state in which this can be done to it."""


class ComparisonFailed(SchedulerError):
    """The systems could not be compared."""


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


class QuotaUsedUp(SchedulerError):
    """The team has used its quota."""

    def __init__(self, message: str, standings: Sequence[Standing] = ()) -> None:
        super().__init__(message)
        self.standings = tuple(standings)
        """The quotas that leave no room."""


class ReusedKey(SchedulerError):
    """A request of this key had other content. Give each request a key of its own."""


class TooMany(SchedulerError):
    """These are more evaluations than can be changed at once. Choose fewer."""


class StorageFailed(SchedulerError):
    """The database cannot store what was computed."""


class WorkerDidNotStart(SchedulerError):
    """The worker inside this command did not start."""
