"""A table, whatever format it is shown in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from steelyard.tables import formatting
from steelyard.tables.formatting import PLAIN, Notation


class Kind(StrEnum):
    """What a column holds. A text in a column of another kind is shown as it is, and missing in data."""

    NAME = "name"
    """A text that names the row."""
    TEXT = "text"
    COUNT = "count"
    """An int, with commas."""
    ID = "id"
    """An int that counts nothing, without commas."""
    NUMBER = "number"
    """A float, with the decimals of its column."""
    P = "p"
    """A p-value."""
    ESTIMATE = "estimate"
    """An `Estimate`, or a float; in CSV and TSV three columns."""
    RANGE = "range"
    """Two ints, the lowest and the highest; in CSV and TSV two columns."""
    TIME = "time"
    """Seconds since 1970; in data as RFC 3339 has it."""
    DATE = "date"
    """As `TIME`, of which people read the day, in UTC."""
    DURATION = "duration"
    """Seconds."""
    FLAG = "flag"
    """A bool: yes or no."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval."""

    value: float | None
    ends: tuple[float, float] | None = None
    spread: float | None = None
    """A standard deviation, shown behind ±."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name in data, its title for people, and what it holds."""

    key: str
    """In JSON, CSV and TSV."""
    title: str = ""
    kind: Kind = Kind.TEXT
    places: int = 1
    """Decimals, of numbers."""
    end_places: int | None = None
    """Decimals of the ends of intervals; None for `places`."""
    sign: bool = False
    """Whether positive numbers have one."""
    zone: str = "UTC"
    """Of times."""
    missing: str = ""
    """What people read in place of None."""
    higher_is_better: bool | None = None
    """None where no value is better than another."""

    @property
    def numeric(self) -> bool:
        """Whether the column is set to the right."""
        return self.kind not in (Kind.NAME, Kind.TEXT, Kind.TIME, Kind.DATE, Kind.FLAG)


@dataclass(frozen=True)
class Table:
    """Columns, rows of values, and what there is to say about them."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    """A value for each column, of its kind; None where there is none."""
    title: str = ""
    key: str = ""
    """The table's name in a JSON document of several."""
    notes: Sequence[str] = ()
    """Sentences below the table."""
    rules: frozenset[int] = frozenset()
    """Numbers of the rows that a line follows, counted from one."""
    best: frozenset[tuple[int, int]] = frozenset()
    """Row and column, counted from zero, of the cells to stress."""
    starred: frozenset[tuple[int, int]] = frozenset()
    """Row and column of the cells that a star follows in LaTeX."""
    empty: str = field(default="There is nothing to show.")
    """What people read in place of a table without rows."""

    @property
    def names(self) -> int:
        """How many columns at the left name the row."""
        found = 0
        while found < len(self.columns) and self.columns[found].kind is Kind.NAME:
            found += 1
        return found

    def header(self) -> list[str]:
        """Return the titles of the columns.

        Returns
        -------
        list of str
        """
        lower = " (lower is better)"
        return [column.title + (lower if column.higher_is_better is False else "") for column in self.columns]

    def cells(self, notation: Notation = PLAIN) -> list[list[str]]:
        """Return the rows as people read them.

        Parameters
        ----------
        notation : Notation, optional

        Returns
        -------
        list of list of str
        """
        return [
            [shown(column, value, notation) for column, value in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]


def shown(column: Column, value: Any, notation: Notation = PLAIN) -> str:
    """Return a value as people read it.

    Parameters
    ----------
    column : Column
    value : object
    notation : Notation, optional

    Returns
    -------
    str
    """
    if value is None:
        return column.missing
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and column.kind in (Kind.NAME, Kind.TEXT):
        return ", ".join(map(str, value))
    match column.kind:
        case Kind.COUNT:
            return formatting.count(value)
        case Kind.NUMBER:
            return notation.number(value, column.places, sign=column.sign)
        case Kind.P:
            return formatting.p_value(value)
        case Kind.ESTIMATE:
            return _estimate(column, value, notation)
        case Kind.RANGE:
            return notation.rank_range(*value)
        case Kind.TIME:
            return formatting.date_time(value, column.zone)
        case Kind.DATE:
            return formatting.date(value)
        case Kind.DURATION:
            return formatting.duration(value)
        case Kind.FLAG:
            return "yes" if value else "no"
    return str(value)


def _estimate(column: Column, value: Any, notation: Notation) -> str:
    if not isinstance(value, Estimate):
        return notation.number(value, column.places, sign=column.sign)
    text = notation.estimate(value.value, value.ends, column.places, sign=column.sign, end_places=column.end_places)
    if value.spread is None:
        return text
    number, space, interval = text.partition(" ")
    return f"{number} ± {notation.number(value.spread, column.places)}{space}{interval}"
