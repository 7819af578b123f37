"""What can be wrong with what somebody asks for, with one base; `web/exception_handlers.py` answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence


class WebError(Exception):
    """The request cannot be answered as it was meant.

    The docstring of a subclass is its message when none is given.
    """

    status: ClassVar[int] = 400
    code: ClassVar[str] = "bad_request"
    """What programs go by; the message is for people, and may change."""

    def __init__(self, message: str | None = None, *, details: Sequence[str] = ()) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())
        self.details = tuple(details)
        """One for each thing that is wrong, where there are several."""
        self.headers: dict[str, str] = {}
        """What the answer has beside it."""


class BadRequest(WebError):
    """What was sent does not fit."""

    status, code = 422, "bad_input"


class BadTime(BadRequest):
    """That is no time."""


class NotSignedIn(WebError):
    """Sign in first, or send a token: Authorization: Bearer TOKEN."""

    status, code = 401, "not_signed_in"


class BadToken(NotSignedIn):
    """The token is unknown, or was revoked, or is over. Make another one."""


class Forbidden(WebError):
    """Your account may not do that."""

    status, code = 403, "forbidden"


class Closed(Forbidden):
    """The campaign takes no submissions now."""

    code = "closed"


class ForgedRequest(Forbidden):
    """The form did not come from a page of this server, or from one that is too old. Load the page again."""

    code = "forged_request"


class NotThere(WebError):
    """There is nothing at this address that this account may see."""

    status, code = 404, "not_found"


class Taken(WebError):
    """Something else stands in the way."""

    status, code = 409, "conflict"


class OutOfDate(WebError):
    """Somebody else has changed it meanwhile. Load it again."""

    status, code = 412, "out_of_date"


class TooLarge(WebError):
    """It is larger than what the server takes."""

    status, code = 413, "too_large"


class TooSlow(WebError):
    """The request took too long to arrive. Pack it with gzip."""

    status, code = 408, "too_slow"


class Later(WebError):
    """Try again later."""

    def __init__(
        self, message: str | None = None, *, details: Sequence[str] = (), retry_seconds: float | None = None
    ) -> None:
        super().__init__(message, details=details)
        self.retry_seconds = retry_seconds
        """When it is worth while; None where nobody knows."""


class TooMany(Later):
    """These are too many requests. Wait a little."""

    status, code = 429, "too_many"


class Unavailable(Later):
    """The server cannot do this just now. Try again in a minute."""

    status, code = 503, "unavailable"


class Unreadable(WebError):
    """Something that is stored cannot be read."""

    status, code = 500, "unreadable"


class Failed(WebError):
    """The server failed to do this."""

    status, code = 500, "failed"
