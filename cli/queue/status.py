"""`steelyard status`: what waits, who works, how far campaigns are, and what failed."""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING

from cli.options import WATCH_SECONDS, whole_number
from cli.server.server import add_server_option
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
        help="show what waits, who works, and what failed",
        description="Show the queue: what waits and for how long, the workers and what they hold, what was done in the "
        "last minute, an estimate of the time left, how far campaigns are, and why evaluations failed. It only reads, "
        "and holds nobody up. It is a report: the exit status is 0 also where evaluations failed.",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="only the evaluations of this campaign or test set")
    parser.add_argument(
        "--evaluation", nargs="+", type=whole_number, metavar="ID", default=[], help="only these evaluations"
    )
    parser.add_argument("--failed", action="store_true", help="only the evaluations that failed, all of them")
    parser.add_argument(
        "--watch", nargs="?", type=seconds, const=WATCH_SECONDS, metavar="SECONDS",
        help="look again every so many seconds (SECONDS: 1) until Ctrl-C; without a terminal every look is printed",
    )  # fmt: skip
    parser.add_argument(
        "--until-done", action="store_true", help="watch until no evaluation of those that are meant is open"
    )
    parser.add_argument(
        "-f", "--format", choices=("text", "json"), default="text",
        help="text, or one JSON object, with --watch one in each line (default: text)",
    )  # fmt: skip
    add_database_option(parser)
    add_server_option(parser)
    parser.set_defaults(run=run, run_on_server=run_on_server)


def seconds(text: str) -> float:
    """A number of seconds, at least a tenth."""
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
    """The same on a server."""
    from cli.server.status import run

    return run(options)


def run(options: argparse.Namespace) -> int:
    """Look once, or again and again."""
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
    """What reads the state of things that these options ask for. It raises NotFound for names that are not there."""
    from cli.queue.status_output import Status
    from models.database.session import make_engine, reading
    from models.queue_status.evaluation_filters import Selection, check_names
    from models.queue_status.overview import read_overview
    from scheduler.leader import is_led

    # No connection outlives a look: somebody may watch for days, and PostgreSQL may be restarted meanwhile.
    engine = make_engine(settings.database_url, pooled=False)
    selection = Selection(evaluations=tuple(dict.fromkeys(options.evaluation)), name=options.name)

    def look() -> Status:
        with reading(engine) as connection:
            check_names(connection, selection)
            overview = read_overview(
                connection,
                silent_seconds=settings.silent_seconds,
                selection=selection,
                most_failures=ALL_FAILURES if options.failed else MOST_FAILURES,
            )
            led = is_led(connection, settings.silent_seconds)
        return Status(overview, led, shown_database(settings), settings.embedded, options.failed)

    return look
