"""What can go wrong when a server is asked, with one base; messages are the server's own where it has any."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class ClientError(Exception):
    """The server did not do what it was asked."""


class ServerAway(ClientError):
    """Nobody answers at the address, or not in time."""


class NotSteelyard(ClientError):
    """Who answers is no Steelyard server, or one of another kind."""


class Refused(ClientError):
    """The server says no. One of its subclasses where it is known why."""

    def __init__(self, status: int, code: str, message: str, details: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        """What programs go by."""
        self.details = tuple(details)
        """One for each thing that is wrong, where there are several."""

    def __str__(self) -> str:
        """The message, and each detail on a line of its own."""
        return "\n  ".join([super().__str__(), *self.details])


class BadInput(Refused):
    """What was sent does not fit."""


class NotSignedIn(Refused):
    """The token is lacking, unknown or over."""


class Forbidden(Refused):
    """The account, or its token, may not do that."""


class NotThere(Refused):
    """There is no such thing, or none that this account may know of."""


class Conflict(Refused):
    """Something else stands in the way."""


class TooLarge(Refused):
    """It is larger than what the server takes."""


class TooMany(Refused):
    """A quota is used up, or these were too many requests."""


class Unavailable(Refused):
    """The server cannot do it just now."""


KINDS: dict[int, type[Refused]] = {
    401: NotSignedIn,
    403: Forbidden,
    404: NotThere,
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
"""By the status of the answer."""
