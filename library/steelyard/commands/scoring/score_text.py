"""The result of `score` as text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.commands.scoring.score_tables import all_tables, bare_scores, signatures
from steelyard.tables.text import as_text

if TYPE_CHECKING:
    from steelyard.commands.scoring.score_result import Result


def render(result: Result) -> str:
    """A table with a column per metric, then the other requested tables, signatures and method.

    Parameters
    ----------
    result : Result

    Returns
    -------
    str
    """
    if result.options.score_only:
        return bare_scores(result)
    scores, *others = all_tables(result)
    lines = [*signatures(result), *scores.notes]
    parts = [replace(scores, title="", notes=()), *others]
    return "\n".join([*map(as_text, parts), "".join(f"{line}\n" for line in lines)])
