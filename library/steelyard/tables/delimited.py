"""CSV and TSV tables that programs read back exactly and spreadsheets do not take for formulas.

All such tables are written here: those of pages, of the API, of exports and of the command line.
"""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING

from steelyard.text.spreadsheets import defused

if TYPE_CHECKING:
    from collections.abc import Iterable

Cell = str | float | None


def as_tsv(columns: Iterable[str], rows: Iterable[Iterable[Cell]]) -> str:
    """Return a header, then a line for each row, tab-separated. See `as_csv`.

    Parameters
    ----------
    columns : iterable of str
    rows : iterable of iterable of Cell

    Returns
    -------
    str
    """
    return _written(columns, rows, "\t")


def as_csv(columns: Iterable[str], rows: Iterable[Iterable[Cell]]) -> str:
    """Return a header, then a line for each row, comma-separated.

    Numbers have all their digits; None and NaN are empty. Texts go through `defused`, and are quoted if necessary: the
    module `csv` reads them back.

    Parameters
    ----------
    columns : iterable of str
    rows : iterable of iterable of Cell

    Returns
    -------
    str
    """
    return _written(columns, rows, ",")


def _written(columns: Iterable[str], rows: Iterable[Iterable[Cell]], delimiter: str) -> str:
    out = io.StringIO(newline="")
    plain = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    quoted = csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in (columns, *rows):
        cells = [_cell(value) for value in row]
        # By default the writer quotes only its own line terminator.
        (quoted if any("\r" in cell for cell in cells) else plain).writerow(cells)
    return out.getvalue()


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(float(value))
    return defused(value) if isinstance(value, str) else str(value)
