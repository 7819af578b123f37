"""The numbers of a chart as a file that its page holds, so that a link saves it without a server or a script."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from steelyard.tables.delimited import as_csv

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.tables.delimited import Cell


def csv_address(columns: Iterable[str], rows: Iterable[Iterable[Cell]]) -> str:
    """Return a `data:` address of a table as CSV."""
    return f"data:text/csv;charset=utf-8,{quote(as_csv(columns, rows), safe=',:/')}"
