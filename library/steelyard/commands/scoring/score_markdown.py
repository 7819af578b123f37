"""The result of `score` as Markdown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.commands.scoring.score_tables import all_tables, signatures
from steelyard.tables.markdown import as_markdown

if TYPE_CHECKING:
    from steelyard.commands.scoring.score_result import Result


def render(result: Result) -> str:
    """All requested tables, the best scores in bold, then the signatures as code.

    Parameters
    ----------
    result : Result

    Returns
    -------
    str
    """
    scores, *others = all_tables(result)
    tables = [replace(scores, title=""), *others]
    return "\n".join([*map(as_markdown, tables), "".join(f"- `{line}`\n" for line in signatures(result))])
