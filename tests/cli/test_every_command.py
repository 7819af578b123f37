"""What holds for every command of click: help, an example that can be parsed, formats, questions before it deletes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click
import pytest

from cli.verbs import VERBS
from steelyard.commands.parsing import Command
from steelyard.commands.verbs import EXTENDED, OURS
from steelyard.tables import FORMATS
from steelyard_client.commands.verbs import VERBS as VERBS_OF_CLIENT
from tests.cli.click_commands import parsed


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for verb, below in command.commands.items():
            yield from commands(below, f"{name} {verb}")
    else:
        yield name, command


EVERY = dict(
    each for name, verb in {**OURS, **VERBS_OF_CLIENT, **VERBS}.items() for each in commands(verb.load(), name)
)


def test_they_are_found() -> None:
    assert {
        "score",
        "user create",
        "team show",
        "quota delete",
        "login",
        "metric check",
        "phase extend",
        "worker",
    } <= set(EVERY)


@pytest.mark.parametrize("name", EVERY)
def test_help_says_what_it_does_and_what_every_argument_and_option_is(name: str) -> None:
    command = EVERY[name]
    assert isinstance(command, Command)
    assert command.help
    assert command.help.endswith(".")
    undescribed = [param.name for param in command.params if not getattr(param, "help", None)]
    assert undescribed == ["scores"] * (name == "rank"), "its help describes the files"


@pytest.mark.parametrize("name", [name for name in EVERY if name != "mtrics"])
def test_the_example_is_one_of_the_command_and_can_be_parsed(name: str) -> None:
    command = EVERY[name]
    assert isinstance(command, Command)
    library = {each for verb in OURS for each, _ in commands(OURS[verb].load(), verb)}
    program, *words = shlex.split(command.example)
    assert program == "steelyard"
    assert command.example.startswith(f"steelyard {name}")
    assert parsed(words, library=name in library and name not in EXTENDED).command is command


@pytest.mark.parametrize("name", [name for name in EVERY if name.endswith((" list", " show"))])
def test_what_lists_or_shows_takes_every_format(name: str) -> None:
    (option,) = (param for param in EVERY[name].params if "-f" in param.opts)
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == FORMATS


@pytest.mark.parametrize("name", [name for name in EVERY if name.endswith(" delete")])
def test_what_deletes_takes_yes(name: str) -> None:
    assert any("--yes" in param.opts for param in EVERY[name].params)
