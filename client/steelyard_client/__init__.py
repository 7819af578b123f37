"""Python client of a Steelyard server: `from steelyard_client import Client`. It needs neither a database nor a queue.

with Client("https://mt.example.org", token) as client:
    submission = client.submit("news 2026", "out.txt", team="harbour", system="tug")
    for progress in client.watch(submission.id):
        print(progress.state)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard_client.client import UNCHANGED, Client
    from steelyard_client.errors import (
        BadInput,
        ClientError,
        Conflict,
        Forbidden,
        NotFound,
        NotSignedIn,
        NotSteelyard,
        Refused,
        ServerUnreachable,
        TooLarge,
        TooMany,
        Unavailable,
    )
    from steelyard_client.transport import RetryPolicy, check_server_url

_PLACES = {
    "client": ("UNCHANGED", "Client"),
    "errors": (
        *("BadInput", "ClientError", "Conflict", "Forbidden", "NotFound", "NotSignedIn", "NotSteelyard", "Refused"),
        *("ServerUnreachable", "TooLarge", "TooMany", "Unavailable"),
    ),
    "transport": ("RetryPolicy", "check_server_url"),
}
"""Module -> its public names. Imported when asked for: processes that need a word of the API alone load no httpx."""

__all__ = [
    "UNCHANGED",
    "BadInput",
    "Client",
    "ClientError",
    "Conflict",
    "Forbidden",
    "NotFound",
    "NotSignedIn",
    "NotSteelyard",
    "Refused",
    "RetryPolicy",
    "ServerUnreachable",
    "TooLarge",
    "TooMany",
    "Unavailable",
    "check_server_url",
]


def __getattr__(name: str) -> object:
    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"steelyard_client.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
