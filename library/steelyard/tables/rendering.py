"""Tables in every format that commands and pages offer."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from steelyard.tables import FORMATS, delimited, html, latex, markdown, text
from steelyard.tables.table import Estimate, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from steelyard.tables.delimited import Cell
    from steelyard.tables.table import Column, Table


def render(tables: Sequence[Table], form: str, title: str = "Steelyard") -> str:
    """Return one table or several in one of `FORMATS`; `title` is that of the page in HTML.

    JSON is a list of objects, a row each; of several tables an object with such a list for each `Table.key`. Numbers
    have all their digits in JSON, CSV and TSV.

    Parameters
    ----------
    tables : sequence of Table
    form : str
    title : str, optional

    Returns
    -------
    str
    """
    match form:
        case "text":
            return "\n".join(map(text.as_text, tables))
        case "markdown":
            return "\n".join(map(markdown.as_markdown, tables))
        case "tsv":
            return "\n".join(as_tsv(each) for each in tables)
        case "csv":
            return "\n".join(as_csv(each) for each in tables)
        case "json":
            found = as_objects(tables[0]) if len(tables) == 1 else {each.key: as_objects(each) for each in tables}
            return as_json(found)
        case "latex":
            return "\n".join(map(latex.as_latex, tables))
        case "html":
            parts = [html.as_html(each, f"table-{number}") for number, each in enumerate(tables, 1)]
            return html.page(title, parts)
    raise ValueError(f"{form!r} is none of {FORMATS}")


def render_document(
    form: str,
    *,
    document: Callable[[], Any],
    data: Callable[[], tuple[Iterable[str], Iterable[Iterable[Cell]]]],
    tables: Callable[[], Sequence[Table]],
    title: str = "Steelyard",
) -> str:
    """As `render`, for what is richer than its tables: JSON is its document, CSV and TSV are its columns and rows.

    Parameters
    ----------
    form : str
    document : callable
    data : callable
    tables : callable
    title : str, optional

    Returns
    -------
    str
    """
    if form == "json":
        return as_json(document())
    if form in ("tsv", "csv"):
        return (delimited.as_tsv if form == "tsv" else delimited.as_csv)(*data())
    return render(tables(), form, title)


def as_json(document: Any) -> str:
    """Return a document as commands print it. NaN is an error: undefined numbers are null.

    Parameters
    ----------
    document : object

    Returns
    -------
    str
    """
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_tsv(table: Table) -> str:
    """Return the table tab-separated, under the keys of its columns.

    Parameters
    ----------
    table : Table

    Returns
    -------
    str
    """
    return delimited.as_tsv(*_data(table))


def as_csv(table: Table) -> str:
    """Return the table comma-separated, under the keys of its columns.

    Parameters
    ----------
    table : Table

    Returns
    -------
    str
    """
    return delimited.as_csv(*_data(table))


def as_objects(table: Table) -> list[dict[str, Any]]:
    """Return an object for each row; undefined numbers are None.

    Parameters
    ----------
    table : Table

    Returns
    -------
    list of dict of str to object
    """
    return [
        {column.key: _value(column, value) for column, value in zip(table.columns, row, strict=True)}
        for row in table.rows
    ]


def _data(table: Table) -> tuple[list[str], list[list[Cell]]]:
    keys = [key for column in table.columns for key in _keys(column)]
    return keys, [
        [cell for column, value in zip(table.columns, row, strict=True) for cell in _data_cells(column, value)]
        for row in table.rows
    ]


def _keys(column: Column) -> tuple[str, ...]:
    ends = f"{column.key}_low", f"{column.key}_high"
    return (column.key, *ends) if column.kind is Kind.ESTIMATE else ends if column.kind is Kind.RANGE else (column.key,)


def _data_cells(column: Column, value: Any) -> Iterator[Cell]:
    found = _value(column, value)
    if column.kind is Kind.ESTIMATE:
        yield from (found["value"], found["low"], found["high"]) if isinstance(found, dict) else (found, None, None)
    elif column.kind is Kind.RANGE:
        yield from (found["low"], found["high"]) if found else (None, None)
    elif column.kind is Kind.FLAG and found is not None:
        yield "yes" if found else "no"
    else:
        yield ", ".join(found) if isinstance(found, list) else found


def _value(column: Column, value: Any) -> Any:
    """Return a value as JSON has it."""
    if column.kind in (Kind.NAME, Kind.TEXT):
        return [*value] if isinstance(value, (list, tuple)) else value
    if value is None or isinstance(value, str):
        return None
    if isinstance(value, Estimate):
        low, high = value.ends or (None, None)
        return {"value": _number(value.value), "low": low, "high": high}
    if column.kind is Kind.RANGE:
        return {"low": value[0], "high": value[1]}
    if column.kind in (Kind.TIME, Kind.DATE):
        from datetime import UTC, datetime

        return datetime.fromtimestamp(value, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return _number(value)


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
