"""The result of `score` as tables of comma-separated values: those of `score_tsv`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.commands.scoring.score_tsv import tables
from steelyard.tables.delimited import as_csv

if TYPE_CHECKING:
    from steelyard.commands.scoring.score_result import Result


def render(result: Result) -> str:
    """All tables, with a blank line between them.

    Parameters
    ----------
    result : Result

    Returns
    -------
    str
    """
    return "\n".join(as_csv(columns, rows) for columns, rows in tables(result))
