"""`steelyard status`: queue, workers, progress of campaigns, and failures."""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING

from cli.options import WATCH_SECONDS, whole_number
from cli.server import add_account_option, add_server_option
from cli.stored import add_database_option, read_settings, require_schema, shown_database

if TYPE_CHECKING:
    from collections.abc import Callable

    from cli.queue.status_output import Status
    from runtime.settings import Settings

MOST_FAILURES = 10
ALL_FAILURES = 10_000


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`status`."""
    parser = verbs.add_parser(
        "status",
        help="show the queue, workers and failures",
        description="Show the queue: waiting work and its age, the workers and their tasks, the throughput of the last "
        "minute, an estimate of the time left, the progress of campaigns, and why evaluations failed. Read-only; takes "
        "no locks. The exit status is 0 even if evaluations failed.",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="only the evaluations of this campaign or test set")
    parser.add_argument(
        "--evaluation", nargs="+", type=whole_number, metavar="ID", default=[], help="only these evaluations"
    )
    parser.add_argument("--failed", action="store_true", help="only failed evaluations, all of them")
    parser.add_argument(
        "--watch", nargs="?", type=seconds, const=WATCH_SECONDS, metavar="SECONDS",
        help="refresh every so many seconds (SECONDS: 1) until Ctrl-C; without a terminal every update is printed",
    )  # fmt: skip
    parser.add_argument("--until-done", action="store_true", help="watch until no selected evaluation is open")
    parser.add_argument(
        "-f", "--format", choices=("text", "json"), default="text",
        help="text, or one JSON object, with --watch one in each line (default: text)",
    )  # fmt: skip
    add_database_option(parser)
    add_server_option(parser)
    add_account_option(parser)
    parser.set_defaults(run=run, run_on_server=run_on_server)


def seconds(text: str) -> float:
    """Parse a number of seconds from 0.1 to 86400."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.1 <= value <= 86400:
        raise argparse.ArgumentTypeError(
            f'"{text}" is not a number of seconds from 0.1 to 86400 (a NAME goes before --watch)'
        )
    return value


def run_on_server(options: argparse.Namespace) -> int:
    """The same command on a server; the exit status."""
    from cli.queue.status_server import run

    return run(options)


def run(options: argparse.Namespace) -> int:
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


def looking(options: argparse.Namespace, settings: Settings) -> Callable[[], Status]:
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
