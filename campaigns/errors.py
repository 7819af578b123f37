"""Errors of this room, with one base; `web/exception_handlers.py` turns them into responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence


class CampaignsError(Exception):
    """A request cannot be fulfilled.

    The docstring of a subclass is its default message.
    """

    status: ClassVar[int] = 400
    code: ClassVar[str] = "bad_request"
    """For programs; the message is for people, and may change."""

    def __init__(self, message: str | None = None, *, details: Sequence[str] = ()) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())
        self.details = tuple(details)
        """One for each problem, if there are several."""
        self.headers: dict[str, str] = {}
        """Additional headers of the response."""


class BadRequest(CampaignsError):
    """The request contains an invalid value."""

    status, code = 422, "bad_input"


class BadTime(BadRequest):
    """The time is invalid."""


class NotSignedIn(CampaignsError):
    """Sign in first, or send a token: Authorization: Bearer TOKEN."""

    status, code = 401, "not_signed_in"


class BadToken(NotSignedIn):
    """The token is unknown, revoked or expired. Create a new one."""


class Forbidden(CampaignsError):
    """Your account does not have permission to do that."""

    status, code = 403, "forbidden"


class Closed(Forbidden):
    """The campaign is closed for submissions."""

    code = "closed"


class ForgedRequest(Forbidden):
    """The form has expired or does not come from this server. Reload the page and try again."""

    code = "forged_request"


class NotFound(CampaignsError):
    """Not found, or you have no access."""

    status, code = 404, "not_found"


class Conflict(CampaignsError):
    """The request conflicts with the current state."""

    status, code = 409, "conflict"


class OutOfDate(CampaignsError):
    """Somebody else has changed it in the meantime. Reload it and try again."""

    status, code = 412, "out_of_date"


class TooLarge(CampaignsError):
    """The request is larger than the server accepts."""

    status, code = 413, "too_large"


class TooSlow(CampaignsError):
    """The request took too long to arrive. Compress it with gzip."""

    status, code = 408, "too_slow"


class Later(CampaignsError):
    """Try again later."""

    def __init__(
        self, message: str | None = None, *, details: Sequence[str] = (), retry_seconds: float | None = None
    ) -> None:
        super().__init__(message, details=details)
        self.retry_seconds = retry_seconds
        """When to try again; None if unknown."""


class TooMany(Later):
    """Too many requests. Wait a moment."""

    status, code = 429, "too_many"


class Unavailable(Later):
    """The server is busy. Try again in a minute."""

    status, code = 503, "unavailable"


class Unreadable(CampaignsError):
    """Stored data cannot be read."""

    status, code = 500, "unreadable"


class Failed(CampaignsError):
    """The server failed to do this."""

    status, code = 500, "failed"
