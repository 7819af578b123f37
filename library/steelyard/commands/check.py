"""`steelyard check`: check an output for problems, from files alone."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import format_option, input_format_option, many, option
from steelyard.commands.parsing import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.checks.finding import Finding
    from steelyard.formats.markup.documents import MarkedFile
    from steelyard.formats.plain import Text


@click.command(
    "check",
    cls=Command,
    help="Compare a system's output with its source, its references or both: shifted, reordered, empty, copied and "
    "repeated lines, wrong language, damaged characters. No database is needed. Every submission is checked in the "
    "same way. Exit status 1 if it cannot be scored, with --strict also for warnings.",
    example="steelyard check output.txt --source source.txt --reference reference.txt",
)
@click.argument("output", metavar="OUTPUT", help="the output, one segment after the other; - reads standard input")
@many("--reference", metavar="REF...", help="its references")
@option("--source", metavar="SRC", help="its source")
@option("--source-language", default="", metavar="CODE", help="such as en")
@option("--target-language", default="", metavar="CODE", help="such as cs; without it the language is not checked")
@input_format_option("all files")
@option("--strict", is_flag=True, help="exit status 1 for warnings, too")
@format_option("text", "json")
def check(
    output: str,
    reference: Sequence[str],
    source: str | None,
    source_language: str,
    target_language: str,
    input_format: str | None,
    strict: bool,
    format: str,  # noqa: A002 - the option's name
) -> int:
    """Read the files, print the findings; the exit status."""
    from steelyard.checks.check import check_output
    from steelyard.checks.context import CheckContext
    from steelyard.checks.finding import Severity, is_fatal
    from steelyard.checks.language import has_identifier

    if not reference and not source:
        raise UsageError("Give --source, --reference or both to compare the output with.")
    source_text, references, text = _read_all(output, reference, source, input_format)
    beside = [each for each in (source_text, *references) if each is not None]
    _check(beside)
    context = CheckContext(
        segments=beside[0].segments,
        source=None if source_text is None else source_text.bytes,
        references=[each.bytes for each in references],
        source_language=source_language or (source_text.language if source_text else ""),
        target_language=target_language or next((each.language for each in (*references, text) if each.language), ""),
    )
    if context.target_language and not has_identifier():
        missing = 'needs the package that identifies languages: pip install "steelyard[langid]".'
        if target_language:
            raise UsageError(f"--target-language {missing}")
        note([f"The language of the output was not checked; that {missing}"])
    findings = check_output(text, context)
    print(as_json(findings) if format == "json" else as_text(findings), end="")
    warned = any(each.severity is Severity.WARNING for each in findings)
    return 1 if is_fatal(findings) or (strict and warned) else 0


def as_text(findings: Sequence[Finding]) -> str:
    """A line for each finding, the worst first.

    Parameters
    ----------
    findings : sequence of Finding

    Returns
    -------
    str
    """
    if not findings:
        return "No problems found.\n"
    return "".join(f"{each.severity}: {each.message} [{each.code}]\n" for each in findings)


def as_json(findings: Sequence[Finding]) -> str:
    """A list of findings, in the form that the database stores and the API returns.

    Parameters
    ----------
    findings : sequence of Finding

    Returns
    -------
    str
    """
    return json.dumps([each.as_row() for each in findings], ensure_ascii=False, indent=1) + "\n"


def _read_all(
    output: str, references: Sequence[str], source: str | None, input_format: str | None
) -> tuple[Text | None, list[Text], Text]:
    """Source, references and output, line by line; by their ids where they have ids. Raises CommandError, BadText."""
    from steelyard.commands.scoring.inputs import input_file
    from steelyard.formats.campaign.alignment import align
    from steelyard.formats.detection import read_file
    from steelyard.formats.markup.documents import Role
    from steelyard.formats.plain import Text

    given = [(Role.SOURCE, source)] if source else []
    given += [*((Role.REFERENCE, path) for path in references), (Role.SYSTEM, output)]
    texts: list[Text] = []
    marked: list[MarkedFile] = []
    for role, argument in given:
        file = input_file(argument)
        read = read_file(file.path, format=input_format, part=file.part, role=role, label=file.label)
        if isinstance(read, Text):
            texts.append(read)
        else:
            marked.append(read)
    if not marked:
        return texts[0] if source else None, texts[bool(source) : -1], texts[-1]
    if texts:
        raise CommandError(
            f"{marked[0].name} has ids for its segments, but {texts[0].name} is matched by position: give all files in "
            "formats with ids, or all in others."
        )
    aligned = align(marked)
    if len(aligned.systems) != 1:
        raise CommandError(f"{output}: holds {len(aligned.systems)} systems. Give the output of one system.")
    # Files with ids name the languages of the whole set.
    source_language, target_language = aligned.source_language or "", aligned.target_language or ""
    first = None if aligned.source is None else replace(aligned.source, language=source_language)
    others = [
        replace(each, language=target_language) for each in (*aligned.references.values(), *aligned.systems.values())
    ]
    return first, others[:-1], others[-1]


def _check(texts: Sequence[Text]) -> None:
    from steelyard.formats.plain import check_same_length

    check_same_length(texts[0], texts[1:])
