"""What the cells of a table of judgments say: names, numbers, segments. Problems are collected, with their lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steelyard.meta_evaluation.human.table import BadTable
from steelyard.text.findings import Findings, quoted
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.meta_evaluation.human.table import Table

LONGEST_NAME = 200
LARGEST = 1e9
OF_HUNDRED = 0.0, 100.0
"""The scale of direct assessments and of ESA, lowest and highest: what their annotators' sliders give."""
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?", re.ASCII)
_COUNT = re.compile(r"\d{1,9}", re.ASCII)
_PART = re.compile(r"(?P<document>.+)#(?P<first>\d{1,9})-(?P<last>\d{1,9})", re.ASCII | re.DOTALL)

NUMBERED = {"segment": 0, "line": 0, "globalsegid": 1, "segid": 1, "srcindex": 1}
"""Columns that count segments through the test set, and the number of the first: 0 where lines are counted as in the
project's own files; Google's and WMT's tables begin at 1."""
DOCUMENT = ("docid", "doc", "document", "documentid")
IN_DOCUMENT = ("segindoc", "docsegid")


@dataclass(slots=True)
class Cells:
    """Reads the cells of one table."""

    table: Table
    findings: Findings = field(init=False)
    _names: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.findings = Findings(self.table.name, error=BadTable)

    def name(self, text: str, line: int, what: str) -> str | None:
        """The name of a system or an annotator; a bad one is a problem.

        Parameters
        ----------
        text : str
        line : int
            For messages, as in the other methods.
        what : str
            What it names, for messages.

        Returns
        -------
        str or None
            None for a bad one.
        """
        if text not in self._names:
            good = 0 < len(text) <= LONGEST_NAME and text.isprintable()
            self._names[text] = text if good else None
        if self._names[text] is None:
            self.findings.problem(
                f"{quoted(text)} cannot be the name of {what}. Give 1 to {LONGEST_NAME} printable characters.", line
            )
        return self._names[text]

    def number(
        self, text: str, line: int, what: str, largest: float = LARGEST, *, of_hundred: bool = False
    ) -> float | None:
        """A finite number; anything else is a problem.

        Parameters
        ----------
        text : str
        line : int
        what : str
        largest : float
            The largest amount that is allowed.
        of_hundred : bool
            Allow only what is on the scale of direct assessments.

        Returns
        -------
        float or None
            None for anything else.
        """
        low, high = OF_HUNDRED if of_hundred else (-largest, largest)
        if _NUMBER.fullmatch(text) and low <= (value := float(text)) <= high:
            return value + 0.0  # never -0.0
        allowed = f" from {low:g} to {high:g}" if of_hundred else f", at most {largest:g}"
        self.findings.problem(f"the {what} is {quoted(text)}. Give a number{allowed}.", line)
        return None

    def count(self, text: str, line: int, what: str) -> int | None:
        """A whole number from 0; anything else is a problem.

        Parameters
        ----------
        text : str
        line : int
        what : str

        Returns
        -------
        int or None
            None where the cell is empty, or for anything else.
        """
        if text and not _COUNT.fullmatch(text):
            self.findings.problem(f"{what} is {quoted(text)}. Give a whole number.", line)
            return None
        return int(text) if text else None


@dataclass(slots=True)
class Places:
    """Finds the segments that the rows of a table are about."""

    cells: Cells
    segments: int
    """Of the test set."""
    documents: Mapping[str, Sequence[int]]
    """The segments of each document, in order."""
    title: str
    number: int
    """Column of the number."""
    first: int
    """The number of the first segment, of the test set or of each document."""
    document: int | None
    """Column of the document's name; None: numbers count through the test set."""
    _known: dict[tuple[str, str], int] = field(default_factory=dict)

    def segment(self, row: Sequence[str], line: int) -> int | None:
        """The segment of a row; one that is not in the test set is a problem.

        Parameters
        ----------
        row : sequence of str
        line : int

        Returns
        -------
        int or None
            From 0; None where it is not in the test set.
        """
        key = (row[self.number], "" if self.document is None else row[self.document])
        if key not in self._known:
            found = self._find(*key)
            if isinstance(found, str):
                self.cells.findings.problem(found, line)
                return None
            self._known[key] = found
        return self._known[key]

    def _find(self, text: str, document: str) -> int | str:
        """The segment, or what is wrong."""
        if not _COUNT.fullmatch(text):
            return f"{self.title} is {quoted(text)}. Give a whole number."
        number = int(text) - self.first
        if self.document is None:
            if 0 <= number < self.segments:
                return number
            last = self.segments - 1 + self.first
            return (
                f"{self.title} {text} is not in the test set, which has {self.first} to {last}. Check the test set, or "
                f"say by --first-segment {1 - min(self.first, 1)} that the file counts differently."
            )
        # Appraise shows parts of long documents, NAME#FIRST-LAST, and counts from 0 in each.
        part = _PART.fullmatch(document)
        if part:
            document, number = part["document"], int(text) + int(part["first"]) - 1
        inside = self.documents.get(document)
        if inside is None:
            return f"the test set has no document {quoted(document)}. Check the test set and its documents."
        if 0 <= number < len(inside):
            return inside[number]
        return f"document {quoted(document)} has {number_of(len(inside), 'segment')}, but {self.title} is {text}."


def places(
    cells: Cells,
    segments: int,
    documents: Mapping[str, Sequence[int]],
    *,
    by_document: bool = False,
    first: int | None = None,
) -> Places | None:
    """How the rows of a table name their segments: by number in the test set, or in a document.

    Parameters
    ----------
    cells : Cells
    segments : int
        Of the test set.
    documents : mapping of str to sequence of int
        The segments of each document.
    by_document : bool
        Take the number in the document where the table has both.
    first : int, optional
        The number of the first segment, where the column's usual one is wrong.

    Returns
    -------
    Places or None
        None where the table does not say.

    Raises
    ------
    BadTable
        Where documents are asked for and not there.
    """
    columns, titles = cells.table.columns, cells.table.titles
    name_columns: tuple[str, ...] = DOCUMENT
    within = [*IN_DOCUMENT, "itemid"]
    # In Google's tables of 2020, doc_id is the number of the segment in the document that doc names.
    if "doc" in columns and "docid" in columns:
        name_columns, within = ("doc",), [*within, "docid"]
    document = cells.table.column(*name_columns)
    numbered = next((name for name in NUMBERED if name in columns), None)
    counted = next((name for name in within if name in columns and document is not None), None)
    if numbered is not None and not by_document:
        usual = NUMBERED[numbered] if first is None else first
        return Places(cells, segments, documents, titles[numbered], columns[numbered], usual, None)
    if counted is not None:
        usual = 1 if first is None else first
        return Places(cells, segments, documents, titles[counted], columns[counted], usual, document)
    if by_document:
        raise BadTable(f"{cells.table.name}, line 1: no columns for documents. Name them doc_id and seg_in_doc.")
    return None
