"""Python client of a Steelyard server: `from steelyard_client import Client`. It needs neither a database nor a queue.

with Client("https://mt.example.org", token) as client:
    submission = client.submit_output("news 2026", "out.txt", team="harbour", system="tug")
    for progress in client.watch_submission(submission.id):
        print(progress.state)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard_client.addresses import check_server_url
    from steelyard_client.client import AsyncClient, Client
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
    from steelyard_client.retries import RetryPolicy

_PLACES = {
    "addresses": ("check_server_url",),
    "client": ("AsyncClient", "Client"),
    "errors": (
        *("BadInput", "ClientError", "Conflict", "Forbidden", "NotFound", "NotSignedIn", "NotSteelyard", "Refused"),
        *("ServerUnreachable", "TooLarge", "TooMany", "Unavailable"),
    ),
    "retries": ("RetryPolicy",),
}
"""Module -> its public names. Imported when asked for: processes that need a word of the API alone load no httpx."""

__all__ = [
    "AsyncClient",
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
