"""`steelyard status`: queue, workers, progress of campaigns, and failures."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import click

from steelyard.commands.errors import UsageError
from steelyard.commands.options import many, option
from steelyard.commands.parsing import Command, Value
from steelyard.commands.values import whole_number
from steelyard_client.commands.backend import backend
from steelyard_client.commands.queue.watch import WATCH_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steelyard_client import Client
    from steelyard_client.commands.queue.watch import Look

MOST_FAILURES = 10
ALL_FAILURES = 10_000
REQUESTS_A_SECOND = 2.0
"""Rate of a watching command: a fifth of a server's default limit for an account."""


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
    cls=Command,
    help="Show the queue: waiting work and its age, the workers and their tasks, the throughput of the last minute, an "
    "estimate of the time left, the progress of campaigns, and why evaluations failed. Teams see their submissions. "
    "It only reads, and takes no locks. The exit status is 0 even if evaluations failed.",
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
@backend()
def status(
    client: Client,
    name: str | None,
    evaluation: Sequence[int],
    failed: bool,
    watch: float | None,
    until_done: bool,
    format: str,  # noqa: A002 - the option's name
) -> int:
    """Print the status once, or repeatedly with --watch; the exit status."""
    from steelyard_client.vocabulary import SiteRole

    numbers = list(dict.fromkeys(evaluation))
    if client.me().role in (SiteRole.ADMINISTRATOR, SiteRole.ORGANISER):
        look, requests = _of_queue(client, name or "", numbers, failed=failed), 1
    else:
        from steelyard_client.commands.queue.submissions import looking

        if numbers:
            raise UsageError("--evaluation is for organisers; `steelyard submission show` shows yours.")
        look, requests = looking(client, name or "", failed=failed)
    every = watch or (WATCH_SECONDS if until_done else None)
    if every is not None:
        from steelyard_client.commands.queue.watch import watch as watch_it

        every = max(every, requests / REQUESTS_A_SECOND)
        return watch_it(look, every, until_done=until_done, as_lines=format == "json")
    found = look()
    if format == "json":
        sys.stdout.write(found.json(indent=1))
    else:
        found.show()
    return 0


def _of_queue(client: Client, name: str, numbers: Sequence[int], *, failed: bool) -> Callable[[], Look]:
    """A function that reads the queue. It raises NotFound for unknown names."""
    from steelyard_client.commands.queue.output import Status

    most = ALL_FAILURES if failed else MOST_FAILURES
    return lambda: Status(client.read_queue_status(campaign=name, evaluations=numbers, failures=most), failed)
