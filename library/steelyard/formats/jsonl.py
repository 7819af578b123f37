"""Reads JSON Lines: one object per line, one object a segment, as WMT's outputs and MetricX's files are."""

from __future__ import annotations

import codecs
import json
from typing import TYPE_CHECKING, Any

from steelyard.formats.reader import Kind, Reader
from steelyard.formats.rows import DOCUMENT_FIELDS, SEGMENT_FIELDS, Rows, are_rows
from steelyard.text.limits import OverLimit, TextLimits

if TYPE_CHECKING:
    from steelyard.formats.input.contents import Contents
    from steelyard.formats.markup.documents import MarkedFile
    from steelyard.formats.reader import Reading

MOST_BYTES_OF_CHARACTER = 12
"""An escaped character beyond the first 65,536 is written so long."""
OTHER_BYTES = 1 << 16
"""That a line may have beside its text."""
LOOKED_AT = 1 << 16


def read_jsonl(contents: Contents, how: Reading) -> MarkedFile:
    """Read JSON Lines; `steelyard.formats.rows` says which fields are read, all others are passed over.

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

    limits = how.markup_limits
    longest = limits.segment_characters * MOST_BYTES_OF_CHARACTER + OTHER_BYTES
    bounds = TextLimits(limits.file_bytes, segment_characters=longest, segments=limits.file_bytes + 1)
    rows, begun = Rows(contents.name, how), False
    for number, line in enumerate(read_lines(contents, limits=bounds).lines(), start=1):
        if not line.strip():
            continue
        if sum(map(line.count, (b",", b"[", b"{"))) > limits.tags:
            raise OverLimit(f"{contents.name}, line {number}: more than {limits.tags:,} values in one line.")
        row = _object(line)
        if isinstance(row, str):
            rows.findings.problem(f"{row} Write one JSON object per line.", number)
            continue
        if not begun:
            rows.begin(list(row), number)
            begun = True
        rows.add(row, number)
    return rows.file()


def looks_like_jsonl(head: bytes) -> bool:
    """Whether the first line is an object with an id and a text.

    Parameters
    ----------
    head : bytes
        The first 64 KiB.

    Returns
    -------
    bool
    """
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if not start.startswith(b"{"):
        return False
    line, end, _ = start.partition(b"\n")
    if not end and len(head) >= LOOKED_AT:
        # The line goes on beyond what is looked at: its first field must do.
        return line[1:].lstrip().startswith(tuple(f'"{field}"'.encode() for field in DOCUMENT_FIELDS + SEGMENT_FIELDS))
    found = _object(line)
    return not isinstance(found, str) and are_rows(found)


def _object(line: bytes) -> dict[str, Any] | str:
    """The object of a line, or what is wrong with it."""
    try:
        value = json.loads(line, object_pairs_hook=_once)
    except RecursionError:
        return "is nested too deeply."
    except _Twice as error:
        return f"has {error} twice."
    except ValueError as error:
        return f"is not JSON ({str(error)[:100]})."
    return value if isinstance(value, dict) else "is no JSON object."


class _Twice(Exception):
    """A field of an object is given twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Twice(ascii(next(name for name in names if names.count(name) > 1))[:60])
    return found


READER = Reader("jsonl", "JSON Lines", (".jsonl",), Kind.IDS, looks_like_jsonl, read_jsonl)
