"""The exceptions of this package, with one base class."""

from __future__ import annotations


class ModelsError(Exception):
    """A problem with the database.

    A subclass's docstring is its default message.
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
    """An object with statistics no longer exists in its store."""


class UnreachableStore(ModelsError):
    """The store of statistics does not respond or denies read access."""


class OlderWorkers(ModelsError):
    """Running workers are incompatible with the new tables."""


class NotFound(ModelsError):
    """The row does not exist."""


class UnreadableSchedule(ModelsError):
    """A schedule was written by another release, or by hand."""


class RowsHeld(ModelsError):
    """Rows to be changed stayed locked by another transaction for too long. Try again."""


class UnreadableRow(ModelsError):
    """A row has a value that is unknown to this release: it was edited by hand or written by another release."""
