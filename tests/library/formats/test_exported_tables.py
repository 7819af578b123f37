"""Tables of exports: cells as they were before they were written for spreadsheets."""

from __future__ import annotations

import io
from zipfile import ZipFile

import pytest

from steelyard.formats.campaign.exports import BadExport, rows_of
from steelyard.text.spreadsheets import defused

CELLS = ["", "=1+1", "+5", "-x", "@a", "'", "''=", "plain", "a\tb", 'say "x"', "two\nlines", "0.5", "-0.5", "'=x"]


def archive(content: str | bytes) -> ZipFile:
    packed = io.BytesIO()
    with ZipFile(packed, "w") as written:
        written.writestr("t.tsv", content)
    return ZipFile(packed)


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_comes_back(cell: str) -> None:
    text = f"system\tname\n{quoted(defused(cell))}\tx\n"
    assert rows_of(archive(text), "t.tsv", ["system"]) == [{"system": cell, "name": "x"}]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a\tb\n1\t2\n", "no column c"),
        ("a\tc\n1\n", "rows of different lengths"),
        ("", "cannot be read"),
        (b"\xff\n", "cannot be read"),
        ('a\tc\n"1\t2\n', "cannot be read"),
    ],
)
def test_what_is_no_such_table_is_refused(content: str | bytes, said: str) -> None:
    with pytest.raises(BadExport, match=said):
        rows_of(archive(content), "t.tsv", ["a", "c"])
    with pytest.raises(BadExport, match="The zip lacks other"):
        rows_of(archive(content), "other.tsv", ["a"])
