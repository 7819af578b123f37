"""The verbs of the library, and those of others, which join by the entry-point group `steelyard.commands`."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import click

GROUP = "steelyard.commands"


@dataclass(frozen=True)
class Verb:
    """A verb that is imported when it runs."""

    help: str
    """One line for the help of the root."""
    load: Callable[[], click.Command]


def imported(place: str) -> click.Command:
    """The command at MODULE:NAME.

    Parameters
    ----------
    place : str

    Returns
    -------
    click.Command
    """
    module, _, name = place.partition(":")
    command: click.Command = getattr(import_module(module), name)
    return command


OURS: Mapping[str, Verb] = {
    "score": Verb("score files at once", partial(imported, "steelyard.commands.scoring.score:score")),
    "rank": Verb("rank systems by scores made elsewhere", partial(imported, "steelyard.commands.rank:rank")),
    "correlate": Verb(
        "compare metrics with human judgments", partial(imported, "steelyard.commands.correlate:correlate")
    ),
    "check": Verb("check an output for problems", partial(imported, "steelyard.commands.check:check")),
    "verify": Verb(
        "compute published scores again", partial(imported, "steelyard.commands.verification.verify:verify")
    ),
    "metric": Verb(
        "list the metrics and their parameters, check a metric", partial(imported, "steelyard.commands.metric:metric")
    ),
    "mtrics": Verb("score with the options of MTrics", partial(imported, "steelyard.commands.mtrics.command:mtrics")),
}
EXTENDED = ("verify",)
"""Verbs for files that another distribution, where it is installed, takes to what it stores."""
ELSEWHERE = {
    "'steelyard-client[cli]'": (
        *("campaign", "phase", "testset", "submission", "system", "user", "token", "invitation", "team"),
        *("scores", "quota", "notice"),
        *("submit", "schedule", "login", "judgments", "leaderboard", "compare", "status"),
    ),
    "steelyard-server": (
        *("evaluate", "demo", "tune"),
        *("up", "serve", "vectors", "model", "db", "worker", "scheduler", "health", "doctor"),
    ),
}
"""Distribution -> its verbs, to say what to install for one that is missing."""


def installed() -> dict[str, Verb]:
    """The verbs of other distributions. One that cannot be imported is reported, and the others are there.

    The server's nouns have more verbs than those of the client, and come after them.

    Returns
    -------
    dict of str to Verb
    """
    from steelyard.commands.notices import note

    found: dict[str, Verb] = {}
    for name, place in sorted(entry_points(GROUP)):
        module, _, attribute = place.partition(":")
        try:
            found |= getattr(import_module(module), attribute)
        # Somebody else's code: whatever it raises, the other verbs work.
        except Exception as error:
            note([f'The commands of "{name}" ({place}) cannot be loaded: {error}.'])
    return found


def entry_points(group: str) -> Iterator[tuple[str, str]]:
    """Name and value of each entry point of a group.

    Read from the files where installers write them: importing `importlib.metadata` takes as long as all of `--help`.

    Parameters
    ----------
    group : str
    """
    seen = set()
    for folder in dict.fromkeys(sys.path):
        with suppress(OSError), os.scandir(folder or ".") as entries:
            for entry in entries:
                if not entry.name.endswith(".dist-info") or entry.name in seen:
                    continue
                seen.add(entry.name)
                with suppress(OSError):
                    text = Path(entry.path, "entry_points.txt").read_text("utf-8")
                    _, header, rest = text.partition(f"[{group}]\n")
                    for line in rest.partition("\n[")[0].splitlines() if header else ():
                        name, equals, value = line.partition("=")
                        if equals:
                            yield name.strip(), value.strip()
