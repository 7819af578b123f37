"""Command lines parsed by click, without running them."""

from __future__ import annotations

from collections.abc import Sequence

import click

from cli.verbs import VERBS
from steelyard.commands.main import root
from steelyard_client.commands.verbs import VERBS as VERBS_OF_CLIENT


def parsed(words: Sequence[str], *, library: bool = False) -> click.Context:
    """The context of the command that these words name, with its parameters; without the server's verbs if asked."""
    context = root(dict if library else lambda: VERBS_OF_CLIENT | VERBS).make_context("steelyard", list(words))
    while isinstance(context.command, click.Group):
        # As a group does it: parse, but do not run.
        given = [*context._protected_args, *context.args]
        _, below, rest = context.command.resolve_command(context, given)
        assert below is not None
        context = below.make_context(below.name, rest, parent=context)
    return context
