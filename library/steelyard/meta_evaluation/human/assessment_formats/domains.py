"""The domains of documents, from lists of documents."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from steelyard.formats.plain import read_lines
from steelyard.meta_evaluation.human.cells import DOCUMENT
from steelyard.meta_evaluation.human.table import TABLE_LIMITS, BadTable
from steelyard.text.findings import quoted

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable


def read_domains(paths: Iterable[str | os.PathLike[str]], pairs: Iterable[str]) -> dict[str, dict[str, str]]:
    """The domains of documents, from lists of documents.

    Parameters
    ----------
    paths : iterable of path
        A file has a line for each segment, with its domain and document, a tab between them, or a header that names
        them. One file holds for all pairs; several are told apart by their names, such as `en-cs.docs`.
    pairs : iterable of str
        Those that are judged.

    Returns
    -------
    dict of str to dict of str to str
        By pair ("" for all) and document; the domain of line N, counted from 0, is that of `#N`.

    Raises
    ------
    BadText
        Where a file cannot be read, or a document is in two domains.
    """
    files = list(paths)
    found = {}
    for path in files:
        name = PurePath(path).name
        pair = next((each for each in pairs if each and name.startswith(each)), "") if len(files) > 1 else ""
        if len(files) > 1 and not pair:
            raise BadTable(f"{path}: its name begins with none of the language pairs that were judged.")
        found[pair] = _domains(path)
    return found


def _domains(path: str | os.PathLike[str]) -> dict[str, str]:
    text = read_lines(path, limits=TABLE_LIMITS)
    rows = [line.decode().split("\t") for line in text.lines()]
    at_domain, at_document, first = 0, 1, 0
    folded = [cell.replace("_", "").casefold() for cell in rows[0]] if rows else []
    names = [name for name in DOCUMENT if name in folded]
    if "domain" in folded and names:
        at_domain, at_document, first = folded.index("domain"), folded.index(names[0]), 1
    elif rows and rows[0][0].casefold() == "canary":
        first = 1
    found: dict[str, str] = {}
    for number, row in enumerate(rows[first:]):
        if len(row) <= max(at_domain, at_document):
            raise BadTable(
                f"{text.name}, line {number + first + 1}: needs a domain and a document, a tab between them."
            )
        domain, document = row[at_domain], row[at_document]
        if found.setdefault(document, domain) != domain:
            raise BadTable(
                f"{text.name}, line {number + first + 1}: document {quoted(document)} is in the domains "
                f"{quoted(found[document])} and {quoted(domain)}."
            )
        found[f"#{number}"] = domain
    return found
