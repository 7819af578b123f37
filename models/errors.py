"""Everything that can go wrong in this room, with one base."""

from __future__ import annotations


class ModelsError(Exception):
    """Something about the database is not as it must be.

    The docstring of a subclass is its message when none is given.
    """

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class BadDatabaseUrl(ModelsError):
    """The database URL is neither sqlite:///FILE nor postgresql://USER@HOST/NAME."""


class Unreachable(ModelsError):
    """The database cannot be reached or opened."""


class BadBlob(ModelsError):
    """A stored array is damaged, or was written by a newer release."""


class BadStore(ModelsError):
    """The store of statistics cannot be used: give file:///FOLDER or s3://BUCKET/FOLDER."""


class MissingObject(ModelsError):
    """An object with statistics is not in its store any more."""


class UnreachableStore(ModelsError):
    """The store of statistics does not answer, or does not let us read."""


class OlderWorkers(ModelsError):
    """Workers that are alive could not work with the new tables."""


class NotFound(ModelsError):
    """There is no such row."""


class UnreadableSchedule(ModelsError):
    """A schedule was written by another release, or by hand."""


class RowsHeld(ModelsError):
    """Somebody else holds rows that were to be changed, and has not let go of them in time. Try again."""


class UnreadableRow(ModelsError):
    """A row holds a value that this release does not know: it was written by hand, or by another release."""
