"""The exceptions of this package, with one base class."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


class SchedulerError(Exception):
    """Work cannot be ingested or dispatched.

    A subclass's docstring is its default message.
    """

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class AlreadyRunning(SchedulerError):
    """Another process is scheduling this database. Wait until it has ended, or stop it."""


class BadComparison(SchedulerError):
    """These systems cannot be compared."""


class BadIngest(SchedulerError):
    """The data to be stored is inconsistent."""


class OtherTables(SchedulerError):
    """The tables of the database now belong to another release."""


class ScheduleConflict(SchedulerError):
    """The request conflicts with the state of the schedule."""


class BadSchedule(SchedulerError):
    """A schedule is invalid."""


class BadSource(SchedulerError):
    """The outputs of a nightly run cannot be ingested."""


class NothingToDo(SchedulerError):
    """None of the selected evaluations is in a state in which this is possible."""


class ComparisonFailed(SchedulerError):
    """The systems could not be compared."""


class TooMany(SchedulerError):
    """More evaluations are selected than can be changed at once. Select fewer."""


class StorageFailed(SchedulerError):
    """The database cannot store a result."""


class WorkerDidNotStart(SchedulerError):
    """The embedded worker did not start."""
