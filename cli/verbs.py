"""The verbs of the server, as the command `steelyard` takes them."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from cli.verb_files import FILES
from steelyard.commands.verbs import Verb

if TYPE_CHECKING:
    import click


def adapted(verb: str) -> click.Command:
    """The command of click that hands its arguments to the verb's parser."""
    command: click.Command = import_module("cli.adapter").Adapter(verb)
    return command


VERBS = {verb: Verb(line, partial(adapted, verb)) for verbs in FILES.values() for verb, line in verbs.items()}
"""What the entry point of the group `steelyard.commands` leads to."""
