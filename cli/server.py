"""--server: commands that use a server instead of a database, and the stored API tokens."""

from __future__ import annotations

import argparse
import os
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.commands.errors import CommandError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard_client import Client

SERVER, TOKEN = "STEELYARD_SERVER", "STEELYARD_TOKEN"
OWNER_ONLY = 0o600
OTHERS = 0o077


def add_server_option(parser: argparse.ArgumentParser, *, verb: bool = True) -> None:
    """--server, before a verb or after it."""
    parser.add_argument(
        "--server", metavar="URL",
        # The verb's default must not overwrite a --server before the verb.
        default=argparse.SUPPRESS if verb else None,
        help="ask this Steelyard server instead of a database, with the token of STEELYARD_TOKEN or of `steelyard "
        "login` (default: STEELYARD_SERVER, else the database)"
        if verb
        else "for submit, status, leaderboard, compare and login: ask this server instead of a database",
    )  # fmt: skip


def add_account_option(parser: argparse.ArgumentParser) -> None:
    """--as: a database as somebody sees it."""
    parser.add_argument(
        "--as", dest="account", metavar="EMAIL",
        help="show what this account sees of the database through a server; nobody is a visitor without an account",
    )  # fmt: skip


def chosen_run(options: argparse.Namespace) -> Callable[[argparse.Namespace], int]:
    """The function that runs the command: on a server where one is named or asked for, else locally.

    Raises UsageError.
    """
    here: Callable[[argparse.Namespace], int] = options.run
    there: Callable[[argparse.Namespace], int] | None = getattr(options, "run_on_server", None)
    named = options.server
    if there is None:
        if named:
            raise UsageError("--server is for submit, status, leaderboard, compare and login.")
        return here
    if named and getattr(options, "database", None):
        raise UsageError("Give --server or --database, not both.")
    if getattr(options, "account", None):
        if named:
            raise UsageError("--as is for a database: a server shows what the account of the token may see.")
        return there
    if not named and not getattr(options, "database", None):
        options.server = os.environ.get(SERVER)
    return there if options.server else here


NAMES = {"queue_class": "class"}
"""Options whose name differs from the attribute that they set."""


def refuse_local(options: argparse.Namespace, **fixed: object) -> None:
    """Raise UsageError for options that a server does not support: those whose value differs from the given one."""
    for name, value in fixed.items():
        if getattr(options, name) != value:
            option = f"--{NAMES.get(name, name).replace('_', '-')}"
            if getattr(options, "account", None):
                raise UsageError(f"{option} does not go with --as, which shows what a server shows.")
            raise UsageError(f"{option} is for a database: a server has its own.")


@contextmanager
def connected(options: argparse.Namespace) -> Iterator[Client]:
    """A client of the server with the user's token, or of the database with --as. Its errors become CommandError."""
    from steelyard_client import Client, ClientError, NotSignedIn

    try:
        with ExitStack() as stack:
            if getattr(options, "account", None):
                from cli.own_server import client_of_database

                yield stack.enter_context(client_of_database(options))
            else:
                yield stack.enter_context(Client(options.server, token_for(options.server)))
    except NotSignedIn as error:
        raise CommandError(f"{error}\nGet a token from the page of your account, and run `steelyard login`.") from error
    except ClientError as error:
        raise CommandError(str(error)) from error


def token_for(server: str) -> str | None:
    """The token for a server: from STEELYARD_TOKEN, else the one that `login` stored; None without any."""
    return os.environ.get(TOKEN) or read_tokens().get(_key(server))


def token_file() -> Path:
    """The file with the stored tokens."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "steelyard" / "token"


def read_tokens() -> dict[str, str]:
    """The stored tokens by server. Raises CommandError where others can read the file."""
    file = token_file()
    try:
        with file.open(encoding="utf-8") as text:
            if os.fstat(text.fileno()).st_mode & OTHERS:
                raise CommandError(f"{file} can be read by others. Run `chmod 600 {file}`, and revoke its tokens.")
            pairs = [line.split() for line in text]
    except FileNotFoundError:
        return {}
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def keep_token(server: str, token: str | None) -> None:
    """Store the token of a server, replacing the previous one; None deletes it."""
    tokens = {**read_tokens(), _key(server): token}
    file = token_file()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = file.with_name(f"token.{os.getpid()}")
    # Created with the final mode, so that nobody else can ever read it.
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY), "w", encoding="utf-8") as text:
        text.writelines(f"{name} {kept}\n" for name, kept in tokens.items() if kept)
    new.replace(file)


def _key(server: str) -> str:
    from steelyard_client import check_server_url

    return check_server_url(server, None)
