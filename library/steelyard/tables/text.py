"""Tables as plain text that can be piped, searched and pasted."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from steelyard.tables.table import Table


def as_text(table: Table) -> str:
    """Return title, table and notes; the sentence for an empty table where there are no rows.

    Parameters
    ----------
    table : Table

    Returns
    -------
    str
    """
    title = f"{table.title}\n" if table.title else ""
    notes = "\n" * bool(table.notes) + "".join(f"{note}\n" for note in table.notes)
    if not table.rows:
        return f"{title}{table.empty}\n{notes}"
    right = [number for number, column in enumerate(table.columns) if column.numeric]
    return title + aligned([table.header(), *table.cells()], table.rules, right) + notes


def aligned(rows: Sequence[Sequence[str]], rules: Collection[int] = (), right: Collection[int] = ()) -> str:
    """Return rows as columns, every line ended; a rule below the first row and below those of these numbers.

    The columns `right` are set to the right: up to a bracket, so that numbers stand below each other whether or not
    an interval follows.

    Parameters
    ----------
    rows : sequence of sequence of str
    rules : collection of int, optional
    right : collection of int, optional

    Returns
    -------
    str
    """
    columns = [_padded([row[column] for row in rows], column in right) for column in range(len(rows[0]))]
    rule = "  ".join("-" * display_width(column[0]) for column in columns if display_width(column[0]))
    lines = []
    for number, cells in enumerate(zip(*columns, strict=True)):
        line = "  ".join(cells).rstrip()
        lines += [line, rule] if number in {0, *rules} else [line]
    return "\n".join(lines) + "\n"


def display_width(text: str) -> int:
    """Return the number of terminal cells that the text occupies.

    Parameters
    ----------
    text : str

    Returns
    -------
    int
    """
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _padded(cells: Sequence[str], right: bool) -> list[str]:
    """Return the cells of a column, the first of which is its title, in one width."""
    if right:
        parts = [cell.partition(" [") for cell in cells[1:]]
        number = max((display_width(part[0]) for part in parts), default=0)
        rest = max((display_width(part[1] + part[2]) for part in parts), default=0)
        cells = [cells[0], *(_right(part[0], number) + _left(part[1] + part[2], rest) for part in parts)]
        # Over intervals, a title at the right would be far from its numbers.
        cells[0] = _left(cells[0], number + rest) if rest else cells[0]
    width = max(map(display_width, cells))
    return [_right(cell, width) if right else _left(cell, width) for cell in cells]


def _left(text: str, width: int) -> str:
    return text + " " * (width - display_width(text))


def _right(text: str, width: int) -> str:
    return " " * (width - display_width(text)) + text
