"""Everything that can go wrong in this room, with one base."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


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


class BadIngest(SchedulerError):
    """What is to be stored does not fit together."""


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


class TooMany(SchedulerError):
    """These are more evaluations than can be changed at once. Choose fewer."""


class StorageFailed(SchedulerError):
    """The database cannot store what was computed."""


class WorkerDidNotStart(SchedulerError):
    """The worker inside this command did not start."""
