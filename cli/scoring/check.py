"""`steelyard check`: check an output for problems, from files alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cli.options import add_input_format_option

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from steelyard.checks.finding import Finding
    from steelyard.formats.markup.documents import MarkedFile
    from steelyard.formats.plain import Text


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`check`."""
    parser = verbs.add_parser(
        "check",
        help="check an output for problems before submitting",
        description="Compare a system's output with its source, its references or both: shifted, reordered, empty, "
        "copied and repeated lines, wrong language, damaged characters. No database is needed. Every submission is "
        "checked in the same way. Exit status 1 if it cannot be scored, with --strict also for warnings.",
    )
    parser.add_argument(
        "output", metavar="OUTPUT", help="the output, one segment after the other; - reads standard input"
    )
    parser.add_argument("--reference", nargs="+", default=[], metavar="REF", help="its references")
    parser.add_argument("--source", metavar="SRC", help="its source")
    parser.add_argument("--source-language", default="", metavar="CODE", help="such as en")
    parser.add_argument(
        "--target-language", default="", metavar="CODE", help="such as cs; without it the language is not checked"
    )
    add_input_format_option(parser, "all files")
    parser.add_argument("--strict", action="store_true", help="exit status 1 for warnings, too")
    parser.add_argument("-f", "--format", choices=("text", "json"), default="text", help="of the findings")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the files, print the findings; the exit status."""
    from cli.errors import UsageError
    from cli.options import note
    from steelyard.checks.check import check_output
    from steelyard.checks.context import CheckContext
    from steelyard.checks.finding import Severity, is_fatal
    from steelyard.checks.language import has_identifier

    if not options.reference and not options.source:
        raise UsageError("Give --source, --reference or both to compare the output with.")
    source, references, output = _read_all(options)
    beside = [text for text in (source, *references) if text is not None]
    _check(beside)
    context = CheckContext(
        segments=beside[0].segments,
        source=None if source is None else source.bytes,
        references=[each.bytes for each in references],
        source_language=options.source_language or (source.language if source else ""),
        target_language=options.target_language or next((each.language for each in references if each.language), ""),
    )
    if context.target_language and not has_identifier():
        missing = 'needs the package that identifies languages: pip install "steelyard[langid]".'
        if options.target_language:
            raise UsageError(f"--target-language {missing}")
        note([f"The language of the output was not checked; that {missing}"])
    findings = check_output(output, context)
    print(as_json(findings) if options.format == "json" else as_text(findings), end="")
    warned = any(each.severity is Severity.WARNING for each in findings)
    return 1 if is_fatal(findings) or (options.strict and warned) else 0


def as_text(findings: Sequence[Finding]) -> str:
    """A line for each finding, the worst first."""
    if not findings:
        return "No problems found.\n"
    return "".join(f"{each.severity}: {each.message} [{each.code}]\n" for each in findings)


def as_json(findings: Sequence[Finding]) -> str:
    """A list of findings, in the form that the database stores and the API returns."""
    return json.dumps([each.as_row() for each in findings], ensure_ascii=False, indent=1) + "\n"


def _read_all(options: argparse.Namespace) -> tuple[Text | None, list[Text], Text]:
    """Source, references and output, line by line; by their ids where they have ids. Raises CommandError, BadText."""
    from cli.errors import CommandError
    from cli.scoring.inputs import input_file
    from steelyard.formats.campaign.alignment import align
    from steelyard.formats.detection import read_file
    from steelyard.formats.markup.documents import Role
    from steelyard.formats.plain import Text

    given = [(Role.SOURCE, options.source)] if options.source else []
    given += [*((Role.REFERENCE, path) for path in options.reference), (Role.SYSTEM, options.output)]
    texts: list[Text] = []
    marked: list[MarkedFile] = []
    for role, argument in given:
        file = input_file(argument)
        read = read_file(file.path, format=options.input_format, part=file.part, role=role, label=file.label)
        if isinstance(read, Text):
            texts.append(read)
        else:
            marked.append(read)
    if not marked:
        return texts[0] if options.source else None, texts[bool(options.source) : -1], texts[-1]
    if texts:
        raise CommandError(
            f"{marked[0].name} has ids for its segments, but {texts[0].name} is matched by position: give all files in "
            "formats with ids, or all in others."
        )
    aligned = align(marked)
    if len(aligned.systems) != 1:
        raise CommandError(f"{options.output}: holds {len(aligned.systems)} systems. Give the output of one system.")
    return aligned.source, list(aligned.references.values()), next(iter(aligned.systems.values()))


def _check(texts: Sequence[Text]) -> None:
    from steelyard.formats.plain import check_same_length

    check_same_length(texts[0], texts[1:])
