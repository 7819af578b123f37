"""`steelyard verify`: whether a published score is that of these texts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.options import format_option, many, option
from steelyard.commands.parsing import Command
from steelyard.commands.values import named_file
from steelyard.tables import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.commands.verification.verdicts import Verification

LARGEST_RESULT = 256 * 1024 * 1024
"""Bytes of a file of results."""
ENDINGS = (".zip", ".json")
"""Of what is verified as a file: an exported campaign, and a file of results."""
_DESCRIPTION = (
    "Compute a published score again from the texts, and say whether it is equal to the bit, or what differs: a text, "
    "a parameter, a version. PUBLISHED is a signature, with or without the score behind it, of this program or of "
    "sacreBLEU (BLEU|nrefs:1|case:mixed|... = 33.2); or a file of what `steelyard score -f json` or sacreBLEU printed; "
    "or the zip of an exported campaign, which has the texts in it. Exit status: 0 if all is equal, 1 if something "
    "differs."
)


@click.command(
    "verify",
    cls=Command,
    help=_DESCRIPTION,
    example="steelyard verify 'BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 33.2' ref.txt a.txt",
)
@click.argument("published", metavar="PUBLISHED", help="a signature, a file of results, or an exported campaign")
@click.argument(
    "files", nargs=-1, metavar="FILE...", help="references, then outputs; the texts of a result in any order"
)
@many(
    "systems", "-i", "--input", metavar="SYSTEM...", help="system outputs; without it, FILEs are references and outputs"
)
@option("--score", metavar="X", help="the published score, as it was written, where the signature does not say it")
@option(
    "--documents", metavar="FILE", help="the document of each segment, for a result whose resampling drew documents"
)
@option("-src", "--source", metavar="FILE", help="what was translated, for metrics that read it")
@many(
    "--resource",
    parse=named_file,
    metavar="NAME=FILE...",
    help="a file that a metric asks for by name: word vectors, synonym groups, a lemma table",
)
@format_option(*FORMATS)
def verify(
    published: str,
    files: Sequence[str],
    systems: Sequence[str],
    score: str | None,
    documents: str | None,
    source: str | None,
    resource: Sequence[tuple[str, Path]],
    format: str,  # noqa: A002 - the option's name
) -> int:
    """Compute again, compare and print; the exit status."""
    if score is not None:
        _check_score(score)
    found = _verified(published, files, systems, score, documents, source, resource)
    print(found.rendered(format), end="")
    return 0 if found.verified else 1


def _check_score(score: str) -> None:
    try:
        float(score)
    except ValueError as error:
        raise UsageError(f"--score {score}: must be a number.") from error


def _verified(
    published: str,
    files: Sequence[str],
    systems: Sequence[str],
    score: str | None,
    documents: str | None,
    source: str | None,
    resources: Sequence[tuple[str, Path]],
) -> Verification:
    from steelyard.commands.verification.printed_signatures import parse_signature
    from steelyard.commands.verification.result import verify_result
    from steelyard.commands.verification.signature import verify_signature
    from steelyard.errors import MetricsError

    text, title = published, ""
    if os.path.isfile(published):
        from zipfile import is_zipfile

        if is_zipfile(published):
            from steelyard.commands.verification.export import verify_export

            if files or systems or score:
                raise UsageError("An exported campaign has its texts and scores in it: give the zip alone.")
            return verify_export(published, resources)
        text = _text_of(published)
        if text.lstrip()[:1] in ("{", "["):
            from steelyard.commands.verification.result import read_document

            document = read_document(text, published)
            if isinstance(document, dict) and "systems" in document:
                if score is not None:
                    raise UsageError("--score is for a signature: a result has its scores in it.")
                return verify_result(document, published, files, systems, documents, source=source, resources=resources)
            text, title = _of_sacrebleu(document, published)
    elif names_a_file(published):
        found = "is a folder, and no file" if os.path.isdir(published) else "there is no such file. Check the path"
        raise CommandError(
            f"{published}: {found}. `steelyard campaign export CAMPAIGN FILE.zip` writes "
            "an exported campaign, and `steelyard score -f json` prints a file of results."
        )
    try:
        signature = parse_signature(text, title)
    except MetricsError as error:
        if text is published:
            raise
        raise CommandError(f"{published}: {error}") from error
    return verify_signature(signature, files, systems, score=score, source=source, resources=resources)


def names_a_file(published: str) -> bool:
    """Whether what is to be verified can only be meant as a file, whether it is there or not.

    Parameters
    ----------
    published : str
        As it was given: a signature, a file, or the name of a campaign.

    Returns
    -------
    bool
    """
    return "|" not in published and (os.sep in published or published.lower().endswith(ENDINGS))


def _text_of(path: str) -> str:
    if os.path.getsize(path) > LARGEST_RESULT:
        raise CommandError(f"{path} is larger than {LARGEST_RESULT:,} bytes.")
    try:
        return Path(path).read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is neither a signature nor a result: it is not UTF-8.") from error


def _of_sacrebleu(document: object, path: str) -> tuple[str, str]:
    """The signature with its score, and the name of the metric, of the JSON that sacreBLEU prints for one metric."""
    (one,) = document if isinstance(document, list) and len(document) == 1 else (document,)
    if not isinstance(one, dict) or not {"name", "score", "signature"} <= one.keys():
        raise CommandError(
            f"{path} is neither what `steelyard score -f json` prints nor the JSON of one score of sacreBLEU."
        )
    return f"{one['signature']} = {one['score']}", str(one["name"])
