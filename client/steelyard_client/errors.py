"""Errors of the client, with one base class; messages are the server's own where it sends any."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class ClientError(Exception):
    """A request failed."""


class ServerUnreachable(ClientError):
    """The server cannot be reached, or does not respond in time."""


class NotSteelyard(ClientError):
    """The response is not from a compatible Steelyard server."""


class Refused(ClientError):
    """The server refused the request; a subclass says why where that is known."""

    def __init__(self, status: int, code: str, message: str, details: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        """Error code, for programs."""
        self.details = tuple(details)
        """One message per problem, where there are several."""

    def __str__(self) -> str:
        """The message, and each detail on a line of its own."""
        return "\n  ".join([super().__str__(), *self.details])


class BadInput(Refused):
    """The request is invalid."""


class NotSignedIn(Refused):
    """The token is missing, unknown or expired."""


class Forbidden(Refused):
    """The account, or its token, may not do that."""


class NotFound(Refused):
    """Not found, or not visible to this account."""


class Conflict(Refused):
    """The request conflicts with the current state."""


class TooLarge(Refused):
    """The request is larger than the server's limit."""


class TooMany(Refused):
    """A quota is exhausted, or there were too many requests."""


class Unavailable(Refused):
    """The server is temporarily unavailable."""


ERRORS_BY_STATUS: dict[int, type[Refused]] = {
    401: NotSignedIn,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    413: TooLarge,
    422: BadInput,
    429: TooMany,
    500: Unavailable,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}
"""Status of the response -> error class."""
