"""--server: commands that use a server instead of a database."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from steelyard.commands.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cli.commands import Options
    from steelyard_client import Client

SERVER = "STEELYARD_SERVER"


def on_server(options: Options) -> bool:
    """Whether a server answers: one that is named, or the database's own for --as. Raises UsageError."""
    if options.server and options.database:
        raise UsageError("Give --server or --database, not both.")
    if getattr(options, "account", None):
        if options.server:
            raise UsageError("--as is for a database: a server shows what the account of the token may see.")
        return True
    if not options.server and not options.database:
        options.server = os.environ.get(SERVER)
    return bool(options.server)


NAMES = {"queue_class": "class"}
"""Options whose name differs from the attribute that they set."""


def refuse_local(options: Options, **fixed: object) -> None:
    """Raise UsageError for options that a server does not support: those whose value differs from the given one."""
    for name, value in fixed.items():
        if getattr(options, name) != value:
            option = f"--{NAMES.get(name, name).replace('_', '-')}"
            if getattr(options, "account", None):
                raise UsageError(f"{option} does not go with --as, which shows what a server shows.")
            raise UsageError(f"{option} is for a database: a server has its own.")


@contextmanager
def connected(options: Options) -> Iterator[Client]:
    """A client of the server with the user's token, or of the database with --as. Its errors become CommandError."""
    from steelyard_client.commands.backend import connected as connected_to

    with connected_to(options.server, getattr(options, "database", None), getattr(options, "account", None)) as client:
        yield client
