"""The command line, from its parsers: the help of every command."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

import click

from cli.adapter import parser
from cli.verbs import NATIVE, VERBS
from steelyard.commands.verbs import OURS

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTH = "96"


def sections() -> str:
    """A section for each command of the first level; the help of its subcommands below it."""
    os.environ["COLUMNS"] = WIDTH
    native = {**OURS, **{name: VERBS[name] for name in NATIVE}}
    ours = (each for name, verb in native.items() for each in _click(verb.load(), f"steelyard {name}", level=2))
    return "\n".join(_section(*command) for command in (*ours, *_commands(parser(), level=2)))


def _click(command: click.Command, name: str, level: int) -> Iterator[tuple[int, str, str]]:
    context = click.Context(command, info_name=name, terminal_width=int(WIDTH))
    yield level, name, command.get_help(context)
    if isinstance(command, click.Group):
        for verb in command.list_commands(context):
            yield from _click(command.commands[verb], f"{name} {verb}", level + 1)


def _commands(command: argparse.ArgumentParser, level: int) -> Iterator[tuple[int, str, str]]:
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield level, below.prog, below.format_help()
                yield from _commands(below, level + 1)


def _section(level: int, name: str, text: str) -> str:
    return f"{'#' * level} `{name}`\n\n```text\n{text.rstrip()}\n```\n"
