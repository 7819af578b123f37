"""Commands and options of click as this program has them: several values behind one option, sections in the help."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from steelyard.commands.errors import exit_status, explained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from steelyard.commands.errors import Explain

HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}
SEPARATOR = "\0"
"""Between the words of one occurrence of an option: no word of a command line can have it."""


ARGUMENTS = "steelyard.arguments"
"""In a context's `meta`: the arguments of the command as they were given."""


class Occurrence(NamedTuple):
    """One occurrence of an option that takes several values."""

    option: str
    """As it was written, such as -i."""
    values: tuple[Any, ...]


class Value(click.ParamType[Any]):
    """A value that a function makes of text; its ValueError says what is wrong.

    Parameters
    ----------
    parse : callable
    """

    name = "value"

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self.parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Called by click, for defaults, too."""
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)


class _Words(click.ParamType[Occurrence]):
    """The words of an occurrence, each parsed."""

    name = "words"

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self.word = Value(parse)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Occurrence:
        """Called by click."""
        if isinstance(value, Occurrence):
            return value
        option, *words = value.split(SEPARATOR)
        return Occurrence(option, tuple(self.word.convert(word, param, ctx) for word in words))


class Option(click.Option):
    """An option in a section of the help.

    Parameters
    ----------
    *args : object
    section : str, optional
    **more : object
    """

    def __init__(self, *args: Any, section: str = "Options", **more: Any) -> None:
        super().__init__(*args, **more)
        self.section = section


class ManyOption(Option):
    """An option that takes all words up to the next option and may be repeated: `-m bleu ter -m chrf`.

    Its value is the tuple of all words, or with `grouped` a tuple of `Occurrence`. Grouped options of one name share
    their value, in the order of the command line.

    Parameters
    ----------
    *args : object
    parse : callable, optional
    grouped : bool, optional
    **more : object
    """

    def __init__(self, *args: Any, parse: Callable[[str], Any] = str, grouped: bool = False, **more: Any) -> None:
        super().__init__(*args, type=_Words(parse), multiple=True, callback=None if grouped else _flat, **more)


def _flat(_context: click.Context, _option: click.Parameter, found: Sequence[Occurrence]) -> tuple[Any, ...]:
    return tuple(value for occurrence in found for value in occurrence.values)


class Command(click.Command):
    """A command whose help has sections and an example, and whose arguments may be untrusted file names.

    Parameters
    ----------
    *args : object
    example : str, optional
    **more : object
    """

    def __init__(self, *args: Any, example: str = "", **more: Any) -> None:
        super().__init__(*args, **{"context_settings": HELP_OPTIONS, **more})
        self.example = example

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click, but rejects file names that look like options, which `*` in a shell may expand to."""
        for word in args:
            if word.startswith("-") and word != "-" and os.path.lexists(word):
                ctx.fail(f"{word} is a file here and would be read as an option. Write ./{word}, or rename it.")
            if word == "--":
                break
        ctx.meta[ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, list(_joined(ctx, self.get_params(ctx), args)))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by section, in the order in which they were declared."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record and isinstance(param, click.Option):
                sections.setdefault(getattr(param, "section", "Options"), []).append(record)
        for section, records in sections.items():
            with formatter.section(section):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example, then what else there is to say."""
        if self.example:
            with formatter.section("Example"):
                formatter.write(f"  {self.example}\n")
        super().format_epilog(ctx, formatter)


class Noun(click.Group):
    """A noun, such as `metric`, with its verbs in the order in which they were defined.

    Parameters
    ----------
    *args : object
    command_class : type of Command, optional
    **more : object
    """

    def __init__(self, *args: Any, command_class: type[Command] = Command, **more: Any) -> None:
        super().__init__(*args, **{"context_settings": HELP_OPTIONS, **more})
        self.command_class = command_class

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's name
        """Return the names of the verbs."""
        return list(self.commands)


def _joined(context: click.Context, params: Sequence[click.Parameter], words: Sequence[str]) -> Iterator[str]:
    """The words, where those of each occurrence of a ManyOption have become one."""
    options = {name: param for param in params for name in (*param.opts, *param.secondary_opts) if name[:1] == "-"}
    many = {name for name, param in options.items() if isinstance(param, ManyOption)}
    words = list(words)
    while words:
        word = words.pop(0)
        if word == "--":
            yield from (word, *words)
            return
        name, equals, value = word.partition("=")
        if name not in options and len(name) > 2 and any(each.startswith(name) for each in options):
            # Neither an abbreviation nor a cluster: -TM could be -TMT, or -T and -M.
            raise click.NoSuchOption(name, possibilities=options, ctx=context)
        if name not in options and word[:2] in many:
            # As -mbleu.
            name, equals, value = word[:2], "=", word[2:]
        if name not in many:
            yield word
            continue
        values = [value] if equals else []
        while words and not equals and (words[0] == "-" or not words[0].startswith("-")):
            values.append(words.pop(0))
        if not values:
            raise click.BadOptionUsage(name, f"Option '{name}' requires a value.", context)
        yield from (name, SEPARATOR.join((name, *values)))


def run(command: click.Command, program: str, arguments: Sequence[str], explain: Explain = explained) -> int:
    """Run a command; its exit status. Errors are reported in one line, wrong usage with the usage.

    Parameters
    ----------
    command : click.Command
    program : str
    arguments : sequence of str
    explain : Explain, optional

    Returns
    -------
    int
    """

    def parse_and_run() -> int:
        try:
            with command.make_context(program, list(arguments), max_content_width=100) as context:
                return command.invoke(context) or 0
        except click.exceptions.Exit as end:
            return end.exit_code
        except click.exceptions.NoArgsIsHelpError as error:
            print(error.format_message(), file=sys.stderr)
            return error.exit_code
        except click.UsageError as error:
            from steelyard.text.names import visible

            usage = ""
            if error.ctx is not None:
                program_and_verb = error.ctx.command_path
                usage = f"{error.ctx.get_usage()}\nTry `{program_and_verb} --help`.\n\n"
            print(f"{usage}{program}: {visible(error.format_message())}", file=sys.stderr)
            return error.exit_code

    return exit_status(program, parse_and_run, explain)
