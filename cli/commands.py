"""Commands of the server: a noun with its verbs, and how their errors are explained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cli.errors import explained
from steelyard.commands.errors import exit_status
from steelyard.commands.parsing import HELP_OPTIONS, Command

if TYPE_CHECKING:
    from collections.abc import Sequence


class ServerCommand(Command):
    """A command of the server."""

    def invoke(self, ctx: click.Context) -> int:
        """Run it, with the server that was named before or after it; the exit status."""
        server = ctx.find_root().params.get("server")
        if server and not any(param.name == "server" for param in self.params):
            ctx.fail("--server is for submit, status, leaderboard, compare and login.")
        if server:
            ctx.params["server"] = ctx.params["server"] or server
        run = super().invoke
        return exit_status("steelyard", lambda: run(ctx) or 0, explained)


class Noun(click.Group):
    """A noun, such as `team`, with its verbs in the order in which they were defined."""

    command_class = ServerCommand

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **{"context_settings": HELP_OPTIONS, **more})

    def list_commands(self, ctx: click.Context) -> Sequence[str]:  # type: ignore[override]  # noqa: ARG002
        """Return the names of the verbs."""
        return list(self.commands)


def noun(name: str, help_: str) -> Noun:
    """Return a noun without verbs yet."""
    return Noun(name, help=help_)
