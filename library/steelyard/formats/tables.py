"""Tells tables with ids, JSON Lines and tab-separated ones, from plain text: scored as text they give nonsense."""

from __future__ import annotations

import codecs
import json
from itertools import pairwise
from typing import TYPE_CHECKING

from steelyard.text.names import printable
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from steelyard.formats.plain import Utf8

LOOKED_AT_LINES = 200
FEWEST_LINES = 2
FEWEST_ROWS = 3
COLUMNS_OF_IDS = 2
"""Ids are in one of the first columns."""
TEXT_FIELDS = ("hypothesis", "hyp", "translation", "target", "tgt_text", "mt", "output", "text", "ref", "reference")
"""Names under which others store the text of a segment, the usual ones first (WMT's is "hypothesis")."""
LONGEST_ID = 200


def looks_like_table(head: Utf8) -> str:
    """What to say of a file that is no plain text but a table with ids.

    Parameters
    ----------
    head : bytes
        The first 64 KiB.

    Returns
    -------
    str
        Empty where it is none.
    """
    lines = head.removeprefix(codecs.BOM_UTF8).split(b"\n")
    # The last one may be cut off, or it is what follows the last line feed.
    whole = [line.rstrip(b"\r") for line in lines[: max(len(lines) - 1, 1)]][:LOOKED_AT_LINES]
    if len(whole) < FEWEST_LINES:
        return ""
    return _json_lines(whole) or _tab_separated(whole)


def _json_lines(lines: list[Utf8]) -> str:
    if not all(line.lstrip().startswith(b"{") for line in lines):
        return ""
    try:
        objects = [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        return ""
    fields = [name for name in objects[0] if all(name in each for each in objects)]
    texts = [name for name in TEXT_FIELDS if name in fields and all(isinstance(each[name], str) for each in objects)]
    has = f"with {listed([printable(str(name)[:50]) for name in fields])}" if fields else "without common fields"
    found = f"is JSON Lines {has}, not one segment per line."
    if not texts:
        return f"{found} Write the text of each segment on a line of its own, in the order of the source."
    return (
        f"{found} Write the text alone, in the order of the source: "
        f'`jq -r \'.{texts[0]} | gsub("\\\\s+"; " ")\' OLD > NEW`.'
    )


def _tab_separated(lines: list[Utf8]) -> str:
    rows = [line.split(b"\t") for line in lines]
    columns = len(rows[0])
    if len(rows) < FEWEST_ROWS or columns < 2 or any(len(row) != columns for row in rows):
        return ""
    for column in range(min(columns - 1, COLUMNS_OF_IDS)):
        cells = [row[column] for row in rows]
        # The first line may name the columns.
        if _are_ids(cells) or _are_ids(cells[1:]):
            return (
                f"is a table: every line has {columns} columns parted by tabs, and column {column + 1} looks like ids. "
                "Give the text alone, one segment per line, in the order of the source: "
                f"`cut -f {columns} OLD > NEW` takes the last column."
            )
    return ""


def _are_ids(cells: list[Utf8]) -> bool:
    """Whether these are numbers that count up, or words with digits, no two alike."""
    if any(not cell or len(cell) > LONGEST_ID or b" " in cell.strip() for cell in cells):
        return False
    if all(cell.isdigit() and len(cell) < 10 for cell in cells):
        return (
            all(after - before in (0, 1) for before, after in pairwise([int(cell) for cell in cells]))
            and len(set(cells)) > 1
        )
    return len(set(cells)) == len(cells) and all(any(48 <= byte <= 57 for byte in cell) for cell in cells)
