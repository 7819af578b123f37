"""Reads tables: columns with tabs between them, which the first line names; no quotation marks, as in WMT's tables."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from steelyard.formats.reader import Kind, Reader
from steelyard.formats.rows import Rows, are_rows
from steelyard.text.limits import OverLimit, TextLimits
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from steelyard.formats.input.contents import Contents
    from steelyard.formats.markup.documents import MarkedFile
    from steelyard.formats.reader import Reading

MOST_COLUMNS = 1000


def read_tsv(contents: Contents, how: Reading) -> MarkedFile:
    """Read a table; `steelyard.formats.rows` says which columns are read, all others are passed over.

    Parameters
    ----------
    contents : Contents
    how : Reading

    Returns
    -------
    MarkedFile

    Raises
    ------
    BadText
        BadMarkup with all that is wrong at once; OverLimit, Unreadable, NotUtf8.
    """
    # Only now: it stands on the kernels, and the registry must be quick to import.
    from steelyard.formats.plain import read_lines

    most = how.markup_limits.file_bytes
    bounds = TextLimits(most, segment_characters=most, segments=most + 1)
    first, *lines = read_lines(contents, limits=bounds).lines() or [b""]
    rows, columns = Rows(contents.name, how), _cells(first)
    if len(columns) > MOST_COLUMNS:
        raise OverLimit(f"{contents.name}, line 1: more than {MOST_COLUMNS:,} columns.")
    if len(set(columns)) < len(columns):
        rows.findings.problem("names a column twice. Give each a name of its own.", 1)
    rows.begin(columns, 1)
    for number, line in enumerate(lines, start=2):
        cells = line.count(b"\t") + 1
        if cells == len(columns):
            rows.add(dict(zip(columns, line.decode().split("\t"), strict=True)), number)
        else:
            rows.findings.problem(
                f"{number_of(cells, 'column')}, but the first line names {len(columns):,}. A text must not "
                "hold a tab or a line end.",
                number,
            )
    return rows.file()


def looks_like_tsv(head: bytes) -> bool:
    """Whether the first line names columns for an id and a text.

    Parameters
    ----------
    head : bytes
        The first 64 KiB.

    Returns
    -------
    bool
    """
    first = head.removeprefix(codecs.BOM_UTF8).partition(b"\n")[0].removesuffix(b"\r")
    return b"\t" in first and first.count(b"\t") < MOST_COLUMNS and are_rows(_cells(first))


def _cells(line: bytes) -> list[str]:
    return [cell.strip() for cell in line.decode("utf-8", "replace").split("\t")]


READER = Reader("tsv", "tables (TSV) with ids", (".tsv",), Kind.IDS, looks_like_tsv, read_tsv)
