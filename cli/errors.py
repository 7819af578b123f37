"""Errors of the server's verbs, beside those of the library's."""

from __future__ import annotations

from steelyard.commands.errors import explained as explained_by_library


def explained(error: Exception) -> tuple[str, int] | None:
    """The message and the exit status for an error; None for an unexpected one, which keeps its traceback."""
    # Imported only now: parsing a command line must not pay for the database.
    from sqlalchemy.exc import DBAPIError

    from campaigns.errors import BadTime, CampaignsError
    from models.database.error_kinds import explain
    from models.errors import ModelsError
    from runtime.errors import ProcessError
    from runtime.redaction import redacted
    from scheduler.errors import BadSchedule, SchedulerError
    from worker.errors import WorkerError

    if isinstance(error, (BadSchedule, BadTime)):
        return redacted(str(error)), 2
    if isinstance(error, (ModelsError, ProcessError, SchedulerError, CampaignsError, WorkerError)):
        return redacted(str(error)), 1
    if isinstance(error, DBAPIError):
        return explain(error), 1
    return explained_by_library(error)
