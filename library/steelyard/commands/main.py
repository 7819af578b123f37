"""The command `steelyard`: its root, and the entry point."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.parsing import HELP_OPTIONS, run
from steelyard.commands.startup import collect_rarely, compute_in_one_thread, import_nothing_from_the_current_folder
from steelyard.commands.verbs import ELSEWHERE, EXTENDED, OURS, installed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steelyard.commands.verbs import Verb

DESCRIPTION = "Steelyard weighs machine translations against references."
EPILOGUE = (
    "Exit status: 0 success, 1 a problem with data or input, 2 wrong usage. `steelyard VERB --help` shows details."
)
COMPLETE = "_STEELYARD_COMPLETE"
"""Set by the scripts of shell completion."""


class Root(click.Group):
    """The verbs, each imported when it runs. `others` finds those of other distributions when they are needed.

    Parameters
    ----------
    others : callable, optional
    **more : object
    """

    def __init__(self, others: Callable[[], Mapping[str, Verb]] = installed, **more: Any) -> None:
        super().__init__("steelyard", help=DESCRIPTION, epilog=EPILOGUE, context_settings=HELP_OPTIONS, **more)
        self._find = others

    @cached_property
    def others(self) -> Mapping[str, Verb]:
        """The verbs of other distributions."""
        return self._find()

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's name
        """All verbs that are installed, ours first."""
        return [*OURS, *(name for name in self.others if name not in OURS)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a verb; None for an unknown one."""
        verb = (self.others.get(cmd_name) if cmd_name in EXTENDED else None) or OURS.get(cmd_name)
        verb = verb or self.others.get(cmd_name)
        return None if verb is None else verb.load()

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click, but says which distribution has a missing verb, and what an unknown one may have meant."""
        name = args[0]
        command = self.get_command(ctx, name)
        if command is not None:
            if ctx.params["server"] and name in OURS and name not in EXTENDED:
                ctx.fail("--server is for verbs about campaigns, submissions and accounts.")
            return name, command, args[1:]
        for distribution, verbs in ELSEWHERE.items():
            if name in verbs:
                ctx.fail(f"`steelyard {name}` belongs to another package: pip install {distribution}")
        raise click.exceptions.NoSuchCommand(name, possibilities=self.list_commands(ctx), ctx=ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the verbs without importing them."""
        others = {name: verb for name, verb in self.others.items() if name not in OURS}
        for section, verbs in (("Verbs for files", OURS), ("Verbs for campaigns and servers", others)):
            if verbs:
                with formatter.section(section):
                    formatter.write_dl([(name, verb.help) for name, verb in verbs.items()])


def _show_version(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked:
        from steelyard.metrics.metric import VERSION

        print(f"steelyard {VERSION}")
        context.exit()


def root(others: Callable[[], Mapping[str, Verb]] = installed) -> Root:
    """The command with its options.

    Parameters
    ----------
    others : callable, optional

    Returns
    -------
    Root
    """
    return Root(
        others,
        params=[
            click.Option(
                ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
                help="show the version and exit",
            ),
            click.Option(
                ["--server"], metavar="URL",
                help="for verbs about campaigns, submissions and accounts: use this server instead of a database",
            ),
        ],
    )  # fmt: skip


def main(arguments: Sequence[str] | None = None, others: Callable[[], Mapping[str, Verb]] = installed) -> int:
    """Run one command; return its exit status.

    Parameters
    ----------
    arguments : sequence of str or None, optional
    others : callable, optional

    Returns
    -------
    int
    """
    collect_rarely()
    compute_in_one_thread()
    import_nothing_from_the_current_folder()
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(root(others), {}, "steelyard", COMPLETE, instruction)
    return run(root(others), "steelyard", sys.argv[1:] if arguments is None else arguments)


if __name__ == "__main__":
    sys.exit(main())
