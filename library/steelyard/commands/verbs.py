"""The verbs of the library, and those of others, which join by the entry-point group `steelyard.commands`."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import click

GROUP = "steelyard.commands"


@dataclass(frozen=True)
class Verb:
    """A verb that is imported when it runs."""

    help: str
    """One line for the help of the root."""
    load: Callable[[], click.Command]
    takes: Callable[[Sequence[str]], bool] | None = None
    """Whether arguments are for this one, where another distribution has a verb of the same name; None if they are."""


def imported(place: str) -> click.Command:
    """The command at MODULE:NAME."""
    module, _, name = place.partition(":")
    command: click.Command = getattr(import_module(module), name)
    return command


def names_human_file(words: Sequence[str]) -> bool:
    """Whether arguments of `correlate` name a file of human scores; else they are about a database."""
    values = [value for word, value in pairwise(words) if word == "--human"]
    values += [word.removeprefix("--human=") for word in words if word.startswith("--human=")]
    return "--database" not in words and any(map(os.path.exists, values))


OURS: Mapping[str, Verb] = {
    "score": Verb("score files at once", partial(imported, "steelyard.commands.scoring.score:score")),
    "rank": Verb("rank systems by scores made elsewhere", partial(imported, "steelyard.commands.rank:rank")),
    "correlate": Verb(
        "compare metrics with human judgments",
        partial(imported, "steelyard.commands.correlate:correlate"),
        takes=names_human_file,
    ),
    "check": Verb("check an output for problems", partial(imported, "steelyard.commands.check:check")),
    "metric": Verb(
        "list the metrics and their parameters, check a metric", partial(imported, "steelyard.commands.metric:metric")
    ),
    "mtrics": Verb("score with the options of MTrics", partial(imported, "steelyard.commands.mtrics.command:mtrics")),
}
ELSEWHERE = {
    "steelyard-server": (
        *("evaluate", "demo", "submit", "leaderboard", "compare", "human", "tune", "status", "cancel"),
        *("retry", "requeue", "quota", "campaign", "nightly", "up", "serve", "login", "user", "token", "team"),
        *("phase", "testset", "submission", "vectors", "db", "worker", "scheduler", "health"),
    )
}
"""Distribution -> its verbs, to say what to install for one that is missing."""


def installed() -> dict[str, Verb]:
    """The verbs of other distributions. One that cannot be imported is reported, and the others are there."""
    from steelyard.commands.notices import note

    found: dict[str, Verb] = {}
    for name, place in _entry_points():
        module, _, attribute = place.partition(":")
        try:
            found |= getattr(import_module(module), attribute)
        # Somebody else's code: whatever it raises, the other verbs work.
        except Exception as error:
            note([f'The commands of "{name}" ({place}) cannot be loaded: {error}.'])
    return found


def _entry_points() -> Iterator[tuple[str, str]]:
    """Name and value of each entry point of the group.

    Read from the files where installers write them: importing `importlib.metadata` takes as long as all of `--help`.
    """
    seen = set()
    for folder in dict.fromkeys(sys.path):
        with suppress(OSError):
            for entry in os.scandir(folder or "."):
                if not entry.name.endswith(".dist-info") or entry.name in seen:
                    continue
                seen.add(entry.name)
                with suppress(OSError):
                    text = Path(entry.path, "entry_points.txt").read_text("utf-8")
                    _, header, rest = text.partition(f"[{GROUP}]\n")
                    for line in rest.partition("\n[")[0].splitlines() if header else ():
                        name, equals, value = line.partition("=")
                        if equals:
                            yield name.strip(), value.strip()
