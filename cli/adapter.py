"""Commands of click that hand their arguments to a parser of argparse."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import click

from cli.errors import explained
from cli.parser import Parser
from cli.server import add_server_option, chosen_run
from cli.verb_files import add_verbs
from steelyard.commands.errors import exit_status

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def parser(verb: str = "") -> argparse.ArgumentParser:
    """The parser of all verbs of the server, or of the file that has this verb alone."""
    top: argparse.ArgumentParser = Parser(prog="steelyard")
    add_server_option(top, verb=False)
    verbs = top.add_subparsers(title="verbs", metavar="VERB", required=True)
    add_verbs(verbs, verb)
    return top


def parser_of(verb: str) -> argparse.ArgumentParser:
    """The parser of one verb."""
    actions = parser(verb)._actions
    (verbs,) = (action for action in actions if isinstance(action, argparse._SubParsersAction))
    found: argparse.ArgumentParser = verbs.choices[verb]
    return found


class Adapter(click.Command):
    """A verb whose options argparse parses."""

    def __init__(self, verb: str) -> None:
        super().__init__(verb, add_help_option=False)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Leave all arguments to argparse."""
        ctx.args = args
        return args

    def invoke(self, ctx: click.Context) -> int:
        """Parse and run; the exit status."""
        verb = str(self.name)
        server = ctx.find_root().params.get("server")
        options = parser(verb).parse_args([*(["--server", server] if server else []), verb, *ctx.args])
        return exit_status("steelyard", lambda: chosen_run(options)(options), explained)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's name
        """The options and verbs of argparse's parser that begin so."""
        from click.shell_completion import CompletionItem

        found: list[CompletionItem] = []
        for action in parser_of(str(self.name))._actions:
            if isinstance(action, argparse._SubParsersAction):
                found += [CompletionItem(name) for name in action.choices]
            elif incomplete.startswith("-"):
                found += [CompletionItem(name, help=action.help) for name in action.option_strings]
        return [item for item in found if item.value.startswith(incomplete)]
