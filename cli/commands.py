"""Commands of the server: a noun with its verbs, and how their errors are explained."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from cli.errors import explained
from steelyard.commands.errors import exit_status
from steelyard.commands.parsing import Command, Noun

if TYPE_CHECKING:
    from collections.abc import Callable


USUAL_THRESHOLD = 700
"""Allocations before a collection of cycles, as Python has it; short commands collect less often."""


class Options(SimpleNamespace):
    """The values of a command's options and arguments, by their names."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


def collected(function: Callable[[Options], int]) -> Callable[..., int]:
    """A callback of click that hands all values to the function as one object, which it passes on."""

    def callback(**values: Any) -> int:
        return function(Options(**values))

    callback.__doc__ = function.__doc__
    return callback


class ServerCommand(Command):
    """A command of the server."""

    def invoke(self, ctx: click.Context) -> int:
        """Run it; the exit status."""
        if ctx.find_root().params.get("server"):
            ctx.fail("This verb needs the database, not a --server.")
        run = super().invoke
        return exit_status("steelyard", lambda: run(ctx) or 0, explained)


class LongLivedCommand(ServerCommand):
    """A process that runs for days: it looks for cycles as often as Python does by default."""

    def invoke(self, ctx: click.Context) -> int:
        """Run it until it is stopped; the exit status."""
        gc.set_threshold(USUAL_THRESHOLD, *gc.get_threshold()[1:])
        return super().invoke(ctx)


def noun(name: str, help_: str) -> Noun:
    """Return a noun of the server, without verbs yet."""
    return Noun(name, help=help_, command_class=ServerCommand)
