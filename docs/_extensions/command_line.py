"""The command line, from its parsers: the help of every command."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

import click

from cli.adapter import parser
from steelyard.commands.verbs import OURS

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTH = "96"


def sections() -> str:
    """A section for each command of the first level; the help of its subcommands below it."""
    os.environ["COLUMNS"] = WIDTH
    return "\n".join(_section(*command) for command in (*_library(), *_commands(parser(), level=2)))


def _library() -> Iterator[tuple[int, str, str]]:
    for verb, described in OURS.items():
        command, name = described.load(), f"steelyard {verb}"
        yield 2, name, command.get_help(click.Context(command, info_name=name, terminal_width=int(WIDTH)))


def _commands(command: argparse.ArgumentParser, level: int) -> Iterator[tuple[int, str, str]]:
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield level, below.prog, below.format_help()
                yield from _commands(below, level + 1)


def _section(level: int, name: str, text: str) -> str:
    return f"{'#' * level} `{name}`\n\n```text\n{text.rstrip()}\n```\n"
