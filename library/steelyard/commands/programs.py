"""`steelyard metric create` and `delete`: programs that are metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import UsageError
from steelyard.commands.options import option, yes_option
from steelyard.commands.parsing import Command, Value
from steelyard.commands.values import whole_number

if TYPE_CHECKING:
    from steelyard.metrics.programs.registration import RegisteredProgram


@click.command(
    "create",
    cls=Command,
    help="Register a program as a metric. It reads a JSON object per line, with id, hypothesis and what --inputs names "
    "(source, references), and writes a JSON object per line, with the id and a score (a number, or null for none). "
    "It runs with the rights of whoever scores: only register programs that you trust. Registering a name again "
    "replaces it; campaigns keep the one that they were made with, as long as its content is registered.",
    example='steelyard metric create judge --command "python3 judge.py" --inputs source --version 2 --timeout 900',
)
@click.argument("name", metavar="NAME", help="the metric's name")
@option("--command", required=True, metavar="COMMAND", help="the program and its arguments, as a shell splits them")
@option("--inputs", required=True, metavar="INPUT,...", help="what it reads beside the hypothesis: source, reference")
@option("--version", required=True, metavar="VERSION", help="its version: raise it whenever its scores change")
@option("--lower-is-better", is_flag=True, help="lower scores are better")
@option("--timeout", type=Value(float), default=600.0, metavar="SECONDS", help="for a batch (default: 600)")
@option("--memory", type=Value(whole_number), default=0, metavar="MIB", help="limit on its memory (default: none)")
@option("--batch", type=Value(whole_number), default=500, metavar="N", help="segments at once (default: 500)")
@option(
    "--keep-running",
    is_flag=True,
    help="it answers a batch, which ends with an empty line, without waiting for the end of its input, and is kept "
    "for the next one",
)
def create(name: str, command: str, inputs: str, version: str, **limits: Any) -> int:
    """Register a program and print its name with its hash; the exit status."""
    import shlex

    from steelyard.commands.registered import registered_resources
    from steelyard.metrics.programs.registration import INPUTS, RegisteredProgram, register_program

    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(f"--command {command}: cannot be split into words ({error}).") from error
    asked = [each.strip() for each in inputs.split(",")]
    if strange := [each for each in asked if each not in INPUTS]:
        raise UsageError(f'--inputs {inputs}: "{strange[0]}" is no input. Give source, reference or both.')
    program = RegisteredProgram(
        name,
        words,
        tuple(each for each in INPUTS if each in asked),
        version,
        higher_is_better=not limits["lower_is_better"],
        seconds=limits["timeout"],
        megabytes=limits["memory"],
        batch=limits["batch"],
        keeps_running=limits["keep_running"],
    )
    resource = register_program(registered_resources(), program)
    print(f"{resource.pinned}: use it as -m {name}")
    return 0


@click.command(
    "delete",
    cls=Command,
    help="Delete a registered program. Scores that it gave stay; what it has not scored yet waits for a worker that "
    "has it.",
    example="steelyard metric delete judge",
)
@click.argument("name", metavar="NAME", help="the metric's name")
@yes_option()
def delete(name: str, yes: bool) -> int:
    """Take a program out of the registered ones; the exit status."""
    from steelyard.commands.prompts import confirm
    from steelyard.commands.registered import registered_resources
    from steelyard.metrics.programs.registration import KIND
    from steelyard.metrics.registered_names import unregister

    confirm(f"Delete the program {name}?", yes=yes)
    print(f"{unregister(registered_resources(), name, KIND).pinned} is deleted.")
    return 0


def listed_programs(names: tuple[str, ...] | None = None) -> list[tuple[str, RegisteredProgram]]:
    """The registered programs with their pinned names, or those of `names`.

    Parameters
    ----------
    names : tuple of str or None, optional

    Returns
    -------
    list of (str, RegisteredProgram)
    """
    from steelyard.commands.registered import registered_resources
    from steelyard.metrics.programs.registration import read_program, registered_programs

    resources = registered_resources()
    found = registered_programs(resources)
    return [
        (each.pinned, read_program(resources, each.pinned)) for each in found if names is None or each.name in names
    ]


def described_program(pinned: str, program: RegisteredProgram) -> str:
    """What is registered, as lines for people.

    Parameters
    ----------
    pinned : str
    program : RegisteredProgram

    Returns
    -------
    str
    """
    import shlex

    better = "higher is better" if program.higher_is_better else "lower is better"
    memory = f"{program.megabytes:,} MiB" if program.megabytes else "any memory"
    kept = ", kept running" if program.keeps_running else ""
    return (
        f"{program.name}  (registered program, version {program.version}, {better})\n"
        f"  {shlex.join(program.command)}\n"
        f"    program:run={pinned}\n"
        f"    reads hypothesis, {', '.join(program.inputs)}; {program.batch:,} segments at once{kept}; "
        f"{program.seconds:g} s, {memory}\n"
    )


def program_row(pinned: str, program: RegisteredProgram) -> list[Any]:
    """Its row in the table of metrics, whose source is the command.

    Parameters
    ----------
    pinned : str
    program : RegisteredProgram

    Returns
    -------
    list of object
    """
    import shlex

    title = f"{program.name} {program.version}"
    parameters = [f"run={pinned}", f"reads={'+'.join(program.inputs)}"]
    return [program.name, title, program.higher_is_better, parameters, shlex.join(program.command), None]
