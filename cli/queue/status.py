"""`steelyard status`: queue, workers, progress of campaigns, and failures."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import click

from cli.commands import Options, ServerCommand, collected
from cli.queue.status_watch import WATCH_SECONDS
from cli.server import on_server
from cli.stored import read_settings, require_schema, shown_database
from steelyard.commands.options import many, option
from steelyard.commands.parsing import Value
from steelyard.commands.values import whole_number
from steelyard_client.commands.backend import account_option, database_option, server_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from cli.queue.status_output import Status
    from runtime.settings import Settings

MOST_FAILURES = 10
ALL_FAILURES = 10_000


def seconds(text: str) -> float:
    """Parse a number of seconds from 0.1 to 86400."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.1 <= value <= 86400:
        raise ValueError(f'"{text}" is not a number of seconds from 0.1 to 86400 (a NAME goes before --watch)')
    return value


@click.command(
    "status",
    cls=ServerCommand,
    help="Show the queue: waiting work and its age, the workers and their tasks, the throughput of the last minute, an "
    "estimate of the time left, the progress of campaigns, and why evaluations failed. Read-only; takes no locks. The "
    "exit status is 0 even if evaluations failed.",
    example="steelyard status wmt24 --watch 5",
)
@click.argument("name", required=False, metavar="[NAME]", help="only the evaluations of this campaign or test set")
@many("--evaluation", parse=whole_number, metavar="ID...", help="only these evaluations")
@option("--failed", is_flag=True, help="only failed evaluations, all of them")
@option(
    "--watch",
    is_flag=False,
    flag_value=WATCH_SECONDS,
    type=Value(seconds),
    metavar="[SECONDS]",
    help="refresh every so many seconds (SECONDS: 1) until Ctrl-C; without a terminal every update is printed",
)
@option("--until-done", is_flag=True, help="watch until no selected evaluation is open")
@option(
    "-f",
    "--format",
    type=click.Choice(("text", "json")),
    default="text",
    help="text, or one JSON object, with --watch one in each line (default: text)",
)
@database_option()
@server_option()
@account_option()
@collected
def status(options: Options) -> int:
    """Print the status of the database or of a server; the exit status."""
    if not on_server(options):
        return run(options)
    from cli.queue.status_server import run as run_on_server

    return run_on_server(options)


def run(options: Options) -> int:
    """Print the status once, or repeatedly with --watch; the exit status."""
    from cli.queue.status_output import as_json, print_text

    settings = read_settings(options)
    require_schema(settings, create=False)
    look = looking(options, settings)
    every = options.watch or (WATCH_SECONDS if options.until_done else None)
    if every is not None:
        from cli.queue.status_watch import watch

        return watch(look, every, until_done=options.until_done, as_lines=options.format == "json")
    status = look()
    if options.format == "json":
        sys.stdout.write(as_json(status, indent=1))
    else:
        print_text(status)
    return 0


def looking(options: Options, settings: Settings) -> Callable[[], Status]:
    """A function that reads the requested status. It raises NotFound for unknown names."""
    from cli.queue.status_output import Status
    from models.database.session import make_engine, reading
    from models.queue_status.evaluation_filters import EvaluationFilter, check_names
    from models.queue_status.overview import read_overview
    from scheduler.leader import has_leader

    # No connection outlives a read: a command may watch for days, and PostgreSQL may be restarted meanwhile.
    engine = make_engine(settings.database_url, pooled=False)
    selection = EvaluationFilter(evaluations=tuple(dict.fromkeys(options.evaluation)), name=options.name)

    def look() -> Status:
        with reading(engine) as connection:
            check_names(connection, selection)
            overview = read_overview(
                connection,
                silent_seconds=settings.silent_seconds,
                selection=selection,
                most_failures=ALL_FAILURES if options.failed else MOST_FAILURES,
            )
            led = has_leader(connection, settings.silent_seconds)
        return Status(overview, led, shown_database(settings), settings.embedded, options.failed)

    return look
