"""Cells of delimited tables: whatever stands in them comes back, and looks as it always did."""

from __future__ import annotations

import csv
import io

import pytest

from steelyard.tables.delimited import as_csv, as_tsv
from steelyard.text.spreadsheets import cells_of, restored

CELLS = ["plain", "", "a,b", "a\tb", 'say "x"', "two\nlines", "two\rlines", "\r", "both\r\nof", "=1", "'=1", "é"]


@pytest.mark.parametrize(("write", "delimiter"), [(as_csv, ","), (as_tsv, "\t")])
@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_comes_back(write, delimiter: str, cell: str) -> None:
    text = write(("a", "b"), [[cell, 1], ["x", None]])
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    assert [[restored(each) for each in row] for row in rows] == [["a", "b"], [cell, "1"], ["x", ""]]


@pytest.mark.parametrize(
    ("cell", "written"),
    [("a\rb", '"a\rb","1"'), ("a\nb", '"a\nb",1'), ("a,b", '"a,b",1'), ("a", "a,1"), ("=a", "'=a,1")],
)
def test_what_is_quoted(cell: str, written: str) -> None:
    assert as_csv(("n", "m"), [[cell, 1]]) == f"n,m\n{written}\n"


@pytest.mark.parametrize("cell", [each for each in CELLS if "\n" not in each and "\t" not in each and "\r" not in each])
def test_a_line_of_our_own_is_read_cell_by_cell(cell: str) -> None:
    """Also without a reader of such tables: by those who read lines."""
    for cells in ([cell, "x"], ["x", cell], ["'tis", cell, "=2"]):
        line = as_tsv(cells, []).removesuffix("\n")
        assert cells_of(line) == cells
