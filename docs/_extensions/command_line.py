"""The command line: the help of every command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from cli.verbs import VERBS
from steelyard.commands.verbs import OURS
from steelyard_client.commands.verbs import VERBS as VERBS_OF_CLIENT

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTH = "96"


def sections() -> str:
    """A section for each command of the first level; the help of its subcommands below it."""
    os.environ["COLUMNS"] = WIDTH
    every = {**OURS, **VERBS_OF_CLIENT, **VERBS}
    found = (each for name, verb in every.items() for each in _commands(verb.load(), f"steelyard {name}", level=2))
    return "\n".join(_section(*command) for command in found)


def _commands(command: click.Command, name: str, level: int) -> Iterator[tuple[int, str, str]]:
    context = click.Context(command, info_name=name, terminal_width=int(WIDTH))
    yield level, name, command.get_help(context)
    if isinstance(command, click.Group):
        for verb in command.list_commands(context):
            yield from _commands(command.commands[verb], f"{name} {verb}", level + 1)


def _section(level: int, name: str, text: str) -> str:
    return f"{'#' * level} `{name}`\n\n```text\n{text.rstrip()}\n```\n"
