"""Tables of judgments: tab-separated, or comma-separated where the first line says so, bounded and strictly UTF-8."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.errors import BadText
from steelyard.formats.plain import read_lines
from steelyard.text.findings import quoted
from steelyard.text.limits import TextLimits
from steelyard.text.spreadsheets import cells_of, restored
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from steelyard.formats.input.contents import Source
    from steelyard.formats.plain import Text

TABLE_LIMITS = TextLimits(file_bytes=1 << 29, segment_characters=200_000, segments=5_000_000)
"""512 MiB, 200,000 characters in a line, five million lines."""

MAX_COLUMNS = 200


class BadTable(BadText):
    """A table of judgments cannot be understood."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose columns are found by name."""

    name: str
    columns: Mapping[str, int]
    """Position of each column by its folded name (see `folded_column`)."""
    titles: Mapping[str, str]
    """Folded name -> the name as it is written."""
    separator: str
    text: Text
    begins: int
    """Lines before the first row: 1 where the table has a header of its own."""

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """The rows; empty lines are passed over.

        Yields
        ------
        line : int
            From 1.
        cells : list of str

        Raises
        ------
        BadTable
            Where a row has another number of columns.
        """
        width = len(self.columns)
        for line, cells in _rows(self.name, self.text, self.separator):
            if line <= self.begins or cells in ([], [""]):
                continue
            if len(cells) != width:
                raise BadTable(
                    f"{self.name}, line {line}: {number_of(len(cells), 'column')}, the table has {width}. Put one "
                    f"{'tab' if self.separator == chr(9) else 'comma'} between two columns."
                )
            yield line, cells

    def column(self, *names: str) -> int | None:
        """The position of the first of several columns that is there.

        Parameters
        ----------
        *names : str
            Folded (`folded_column`).

        Returns
        -------
        int or None
        """
        return next((self.columns[name] for name in names if name in self.columns), None)

    def title(self, *names: str) -> str:
        """How the first of several columns that is there is written.

        Parameters
        ----------
        *names : str
            Folded; one must be there.

        Returns
        -------
        str
        """
        return next(self.titles[name] for name in names if name in self.columns)


def read_table(
    source: Source, *, name: str | None = None, columns: Callable[[bytes], Sequence[str]] = lambda _: ()
) -> Table:
    """Read a table, packed with gzip or not.

    Parameters
    ----------
    source : path or bytes
    name : str, optional
        What messages call it; without it, the path.
    columns : function of bytes to sequence of str
        The names of the columns by the first line, where that does not name them itself; empty where it does.

    Returns
    -------
    Table

    Raises
    ------
    BadText
        Naming file and line.
    """
    text = read_lines(source, name=name, limits=TABLE_LIMITS)
    if not text.segments or not text.lines()[0].strip():
        raise BadTable(f"{text.name}, line 1: is empty. Begin with a line that names the columns.")
    first = text.bytes.partition(b"\n")[0]
    separator = "\t" if b"\t" in first else ","
    known = columns(first)
    titles = known or next(_rows(text.name, text, separator))[1]
    if len(titles) > MAX_COLUMNS:
        raise BadTable(f"{text.name}, line 1: {len(titles):,} columns; {MAX_COLUMNS} are allowed.")
    folded = [folded_column(title) for title in titles]
    twice = sorted({quoted(title) for title, fold in zip(titles, folded, strict=True) if folded.count(fold) > 1})
    if twice:
        raise BadTable(f"{text.name}, line 1: two columns are called {listed(twice)}. Rename or remove one.")
    return Table(
        text.name,
        {fold: position for position, fold in enumerate(folded)},
        dict(zip(folded, titles, strict=True)),
        separator,
        text,
        0 if known else 1,
    )


def folded_column(title: str) -> str:
    """A column's name without case, blanks, hyphens and underscores: `docSegId`, `doc_seg_id` and `Doc Seg ID` are one.

    Parameters
    ----------
    title : str

    Returns
    -------
    str
    """
    return re.sub(r"[\s_-]+", "", title).casefold()


def _rows(name: str, text: Text, separator: str) -> Iterator[tuple[int, list[str]]]:
    lines = text.bytes.split(b"\n")
    if separator == "\t":
        # Quotation marks in translations are part of them: one that opens a cell never reaches beyond it.
        yield from ((number, cells_of(line.decode())) for number, line in enumerate(lines, 1))
        return
    reader = csv.reader((line.decode() + "\n" for line in lines), strict=True)
    began = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise BadTable(f"{name}, line {began}: not comma-separated values ({error}). Correct the line.") from error
        yield began, [restored(cell) for cell in cells]
        began = reader.line_num + 1
