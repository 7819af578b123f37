"""Tables in HTML: parts of a page, and a page of its own, without scripts."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from steelyard.tables.formatting import TYPESET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.tables.table import Table

PAGE = Path(__file__).with_name("page.html")


def page(title: str, parts: Sequence[str]) -> str:
    """Return a self-contained page; the parts are HTML already.

    Parameters
    ----------
    title : str
    parts : sequence of str

    Returns
    -------
    str
    """
    return Template(PAGE.read_text("utf-8")).substitute(title=escape(title), content="\n".join(parts))


def as_html(table: Table, label: str = "table", *, folded: bool = False) -> str:
    """Return a section with the table, its title and its notes; all texts are escaped.

    `label` is the id of its title. A `folded` one shows no more than its title at first.

    Parameters
    ----------
    table : Table
    label : str, optional
    folded : bool, optional

    Returns
    -------
    str
    """
    section, heading = ("details", "summary") if folded else ("section", "h2")
    notes = [f'<p class="soft">{escape(note)}</p>' for note in table.notes]
    title = [f'<{heading} id="{label}">{escape(table.title)}</{heading}>'] if table.title else []
    if not table.rows:
        return "\n".join((f"<{section}>", *title, f"<p>{escape(table.empty)}</p>", *notes, f"</{section}>"))
    named = f'aria-labelledby="{label}"' if table.title else 'aria-label="Table"'
    right = [' class="number"' if column.numeric else "" for column in table.columns]
    header = "".join(
        f'<th scope="col"{kind}>{escape(cell)}</th>' for kind, cell in zip(right, table.header(), strict=True)
    )
    body = [
        f"<tr>{''.join(_cell(table, number, place, right[place], cell) for place, cell in enumerate(row))}</tr>"
        for number, row in enumerate(table.cells(TYPESET))
    ]
    return "\n".join(
        (
            f"<{section}>",
            *title,
            f'<div class="scroll" tabindex="0" role="region" {named}>',
            f"<table {named}>",
            f"<thead><tr>{header}</tr></thead>",
            "<tbody>",
            *body,
            "</tbody>",
            "</table>",
            "</div>",
            *notes,
            f"</{section}>",
        )
    )


def _cell(table: Table, row: int, column: int, kind: str, text: str) -> str:
    shown = escape(text.strip())
    if column < table.names:
        return f'<th scope="row" dir="auto">{shown}</th>'
    return f"<td{kind}><strong>{shown}</strong></td>" if (row, column) in table.best else f"<td{kind}>{shown}</td>"
