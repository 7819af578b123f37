"""The result of `score` as one self-contained HTML page without scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from steelyard.commands.scoring.score_tables import all_tables, signatures
from steelyard.metrics.metric import VERSION
from steelyard.tables.html import as_html, page

if TYPE_CHECKING:
    from steelyard.commands.scoring.score_result import Result

FOLDED = ("Further figures", "Segments", "Runs of")
"""Beginnings of the titles of tables that are folded away at first: they are long."""


def render(result: Result) -> str:
    """The page. Everything that comes from outside is escaped.

    Parameters
    ----------
    result : Result

    Returns
    -------
    str
    """
    references = [f"<bdi>{escape(text.name)}</bdi>" for text in result.inputs.references]
    segments = result.inputs.references[0].segments
    tables = [
        as_html(table, f"table-{number}", folded=table.title.startswith(FOLDED))
        for number, table in enumerate(all_tables(result), 1)
    ]
    parts = [
        "<h1>Scores</h1>",
        f'<p class="soft">{segments:,} segment{"" if segments == 1 else "s"} against the '
        f"reference{'s' if len(references) > 1 else ''} {', '.join(references)}. Scored by Steelyard {VERSION}.</p>",
        *tables,
        "<h2>Signatures</h2>",
        f'<p class="soft">{"<br>".join(f"<code>{escape(each)}</code>" for each in signatures(result))}</p>',
    ]
    return page("Scores", parts)
