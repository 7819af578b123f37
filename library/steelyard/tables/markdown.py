"""Tables in Markdown, as GitHub's flavour has them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.tables.table import Table

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&])")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def escaped(text: str) -> str:
    r"""Return a text as Markdown shows it, on one line, whatever it holds.

    >>> escaped("a_b | <c>")
    'a\\_b \\| \\<c\\>'

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    return _SPECIAL.sub(r"\\\1", _CONTROL.sub(" ", text))


def as_markdown(table: Table) -> str:
    """Return the title as a heading, the table, and each note as a paragraph; the best values are bold.

    Parameters
    ----------
    table : Table

    Returns
    -------
    str
    """
    parts = [f"### {escaped(table.title)}\n"] if table.title else []
    if table.rows:
        sides = ("---:" if column.numeric else "---" for column in table.columns)
        lines = [_line(map(escaped, table.header())), _line(sides)]
        for number, row in enumerate(table.cells()):
            lines.append(
                _line(
                    f"**{escaped(cell.strip())}**" if (number, place) in table.best else escaped(cell.strip())
                    for place, cell in enumerate(row)
                )
            )
        parts.append("".join(lines))
    else:
        parts.append(f"{escaped(table.empty)}\n")
    return "\n".join([*parts, *(f"{escaped(note)}\n" for note in table.notes)])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
