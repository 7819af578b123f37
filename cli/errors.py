"""What the command line itself may complain of."""

from __future__ import annotations


class CommandError(Exception):
    """The command cannot do what was asked, because of data or the state of things: exit status 1."""


class UsageError(CommandError):
    """The command was put wrongly: exit status 2."""


def explained(error: Exception) -> tuple[str, int] | None:
    """What to tell the user and the exit status; None for a defect of ours, which deserves its traceback."""
    from metrics.errors import BadParameter, MetricsError, UnknownMetric

    if isinstance(error, (UsageError, UnknownMetric, BadParameter)):
        return str(error), 2
    if isinstance(error, (CommandError, MetricsError)):
        return str(error), 1
    # Imported only now: `score` must not pay for the database that it does not use.
    from sqlalchemy.exc import DBAPIError

    from models.errors import ModelsError
    from scheduler.errors import SchedulerError
    from worker.errors import WorkerError

    if isinstance(error, (ModelsError, SchedulerError, WorkerError)):
        return str(error), 1
    if isinstance(error, DBAPIError):
        cause = str(error.orig).strip().splitlines()[0]
        return (
            f"The database cannot be used: {cause}. Check STEELYARD_DATABASE_URL, and that it is running.",
            1,
        )
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}.", 1
    return None
