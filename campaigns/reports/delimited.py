"""Tables between commas or tabs, which programs read back as they were and spreadsheets take for no formulas.

All such tables are written here: those of pages, of the API, of exports and of the command line.
"""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING

from metrics.text.spreadsheets import defused

if TYPE_CHECKING:
    from collections.abc import Iterable

Cell = str | float | None


def as_tsv(columns: Iterable[str], rows: Iterable[Iterable[Cell]]) -> str:
    """A header, then a line for each row, between tabs. See `as_csv`."""
    return _written(columns, rows, "\t")


def as_csv(columns: Iterable[str], rows: Iterable[Iterable[Cell]]) -> str:
    """A header, then a line for each row, between commas.

    Numbers have all their digits; what is None or NaN is empty. Texts go through `defused`, and stand in quotation
    marks where they need to: the module `csv` reads them back.
    """
    return _written(columns, rows, ",")


def _written(columns: Iterable[str], rows: Iterable[Iterable[Cell]], delimiter: str) -> str:
    out = io.StringIO(newline="")
    plain = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    quoted = csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in (columns, *rows):
        cells = [_cell(value) for value in row]
        # Left to itself the writer quotes none but its own line end.
        (quoted if any("\r" in cell for cell in cells) else plain).writerow(cells)
    return out.getvalue()


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(float(value))
    return defused(value) if isinstance(value, str) else str(value)
