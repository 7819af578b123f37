"""What a verb works on: a server, or a database where the server's distribution is installed. Both answer a `Client`.

@team.command("list", help="List all teams.", example="steelyard team list -f csv")
@format_option()
@backend()
def list_(client: Client, format: str) -> int:
...
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager
from functools import wraps
from time import sleep
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.options import option, together
from steelyard.commands.verbs import entry_points, imported
from steelyard_client.commands.progress import shown_progress
from steelyard_client.commands.tokens import token_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import httpx

    from steelyard.commands.options import Decorator
    from steelyard_client import Client
    from steelyard_client.documents.leaderboards.comparisons import ComparisonsResponse
    from steelyard_client.documents.submissions.submissions import SubmissionCreatedResponse

SERVER = "STEELYARD_SERVER"
GROUP = "steelyard.database"
"""Entry points: a function of the URL of a database and an account (both None for the default) that returns a transport
of httpx which answers as a server does."""
DATABASES: WeakKeyDictionary[Client, Any] = WeakKeyDictionary()
"""Clients of databases in this process -> their transports, which can compute what nobody else does."""
ADDRESS = "http://localhost"
"""A name that stands for a database; nothing listens there."""


def backend() -> Decorator:
    """--server, --database and --as; the command gets a `Client` before its own options."""

    def decorate(function: Callable[..., int]) -> Any:
        @wraps(function)
        def command(*, server: str | None, database: str | None, account: str | None, **values: Any) -> int:
            with connected(server, database, account) as client:
                return function(client, **values)

        return together(server_option(), database_option(), account_option())(command)

    return decorate


def server_option() -> Decorator:
    """--server."""
    return option(
        "--server", metavar="URL",
        help="use this Steelyard server, with the token of STEELYARD_TOKEN or of `steelyard login` (default: "
        "STEELYARD_SERVER, else a database)",
    )  # fmt: skip


def database_option() -> Decorator:
    """--database."""
    return option(
        "--database", metavar="URL",
        help="use a database, and may do everything: sqlite:///FILE or postgresql://USER@HOST/NAME (default: "
        "STEELYARD_DATABASE_URL, else sqlite:///steelyard.db)",
    )  # fmt: skip


def account_option() -> Decorator:
    """--as."""
    return option(
        "--as", "account", metavar="EMAIL",
        help="show what this account sees of the database through a server; nobody is a visitor without an account",
    )  # fmt: skip


def finish_comparison(
    client: Client, asked: ComparisonsResponse, read: Callable[[int], ComparisonsResponse]
) -> ComparisonsResponse:
    """Wait until requested randomization tests are computed, on a database by workers of this process.

    `read` reads the comparison with that number. Raises CommandError where the tests failed.
    """
    from steelyard_client.operations.leaderboards import TRIALS_POLL_SECONDS

    found = asked
    with shown_progress("trials") as show:
        while found.progress is not None and found.progress.running:
            comparison = found.progress.comparison
            if (here := DATABASES.get(client)) is not None:
                here.finish_comparison(comparison)
            else:
                show((found.progress.trials_done, found.progress.trials))
                sleep(TRIALS_POLL_SECONDS)
            found = read(comparison)
    if found.progress is not None and found.progress.failure:
        raise CommandError(f"The systems could not be compared. {found.progress.failure}")
    return found


def finish_metrics_task(client: Client, campaign: str, human: str) -> None:
    """On a database compute by workers of this process what a metrics task needs; elsewhere its reader waits."""
    if (here := DATABASES.get(client)) is not None:
        here.finish_metrics_task(campaign, human)


def is_database(client: Client) -> bool:
    """Whether it is a database, and no server."""
    return client in DATABASES


def brings_workers(client: Client) -> bool:
    """Whether commands on this database bring their own workers, because there is no broker; False for a server."""
    here = DATABASES.get(client)
    return here is not None and bool(here.brings_workers)


def finish_evaluations(client: Client, evaluations: Sequence[int]) -> Counter[str]:
    """Wait until evaluations have ended, on a database by workers of this process; how many are in each state."""
    from steelyard_client.documents.submissions.evaluations import EvaluationSelection
    from steelyard_client.operations.submissions import POLL_SECONDS
    from steelyard_client.vocabulary import OPEN

    if (here := DATABASES.get(client)) is not None:
        here.finish_evaluations(evaluations)
    waiting = list(evaluations)
    with shown_progress("evaluations") as show:
        # Those that have ended stay so, and are not asked for again.
        while waiting:
            found = client.list_evaluations(EvaluationSelection(evaluations=waiting, states=list(OPEN)))
            waiting = [each.id for each in found]
            if here is None:
                show((len(evaluations) - len(waiting), len(evaluations)))
            if waiting:
                sleep(POLL_SECONDS)
    ended = client.list_evaluations(EvaluationSelection(evaluations=list(evaluations))) if evaluations else ()
    return Counter(str(each.state) for each in ended)


def finish_submissions(
    client: Client, submissions: Sequence[SubmissionCreatedResponse], processes: int | None = None
) -> None:
    """Wait until submissions have ended, on a database by so many processes of this command, and show the progress."""
    waiting = [each for each in submissions if not each.progress.ended]
    if (here := DATABASES.get(client)) is not None:
        if waiting:
            evaluations = [evaluation.id for each in waiting for evaluation in each.evaluations]
            here.finish_evaluations(evaluations, processes)
        return
    total = sum(each.progress.segments for each in waiting)
    done = 0
    with shown_progress("segments") as show:
        for each in waiting:
            for progress in client.watch_submission(each.id):
                show((done + progress.segments_done, total))
            done += each.progress.segments


@contextmanager
def connected(server: str | None, database: str | None, account: str | None) -> Iterator[Client]:
    """A client of the server or database that the options name. Its errors become CommandError.

    Nothing is sent or opened before the first request. Raises UsageError for options that exclude each other.
    """
    from steelyard_client import Client, ClientError, NotSignedIn

    server = named_server(server)
    if server and database:
        raise UsageError("Give --server or --database, not both.")
    if server and account:
        raise UsageError("--as is for a database: a server shows what the account of the token may see.")
    if not database and not account:
        server = server or os.environ.get(SERVER)
    try:
        if server:
            opened = Client(server, token_for(server))
        else:
            opened = Client(ADDRESS, transport=(here := database_transport(database, account)))
            DATABASES[opened] = here
        with opened as client:
            yield client
    except NotSignedIn as error:
        if not server:
            raise CommandError(str(error)) from error
        raise CommandError(f"{error}\nGet a token from the page of your account, and run `steelyard login`.") from error
    except ClientError as error:
        raise CommandError(str(error)) from error


def named_server(server: str | None) -> str | None:
    """The server that is named after the verb or before it, as in `steelyard --server URL team list`."""
    return server or click.get_current_context().find_root().params.get("server")


def database_transport(database: str | None, account: str | None) -> httpx.BaseTransport:
    """What answers requests from a database. Raises UsageError where the server's distribution is not installed."""
    for _, place in entry_points(GROUP):
        transport: httpx.BaseTransport = imported(place)(database, account)
        return transport
    raise UsageError(
        "Name a server by --server URL or STEELYARD_SERVER. --database needs: pip install steelyard-server"
    )
