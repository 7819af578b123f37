"""Every kind of column: what people read of it, on which side, and what programs get."""

import json
import math
from dataclasses import replace

import pytest

from steelyard.tables.rendering import as_json, as_objects, render, render_document
from steelyard.tables.table import Column, Estimate, Kind, Table
from tests.cli.latex_reader import tables

# Kind, value, what is read, whether on the right, and what programs get.
VALUES = [
    (Kind.NAME, "tug", "tug", False, "tug"),
    (Kind.NAME, ["a", "b"], "a, b", False, ["a", "b"]),
    (Kind.TEXT, "x", "x", False, "x"),
    (Kind.COUNT, 1200, "1,200", True, 1200),
    (Kind.ID, 1200, "1200", True, 1200),
    (Kind.NUMBER, -1.25, "-1.2", True, -1.25),
    (Kind.P, 0.00001, "<0.0001", True, 0.00001),
    (Kind.ESTIMATE, 2.0, "2.0", True, 2.0),
    (Kind.ESTIMATE, Estimate(2.0), "2.0", True, {"value": 2.0, "low": None, "high": None}),
    (Kind.ESTIMATE, Estimate(math.nan), "n/a", True, {"value": None, "low": None, "high": None}),
    (
        *(Kind.ESTIMATE, Estimate(2.0, (1.0, 3.5), 0.25), "2.0 ± 0.2 [1.0, 3.5]", True),
        {"value": 2.0, "low": 1.0, "high": 3.5},
    ),
    (Kind.RANGE, (2, 4), "2-4", True, {"low": 2, "high": 4}),
    (Kind.RANGE, (3, 3), "3", True, {"low": 3, "high": 3}),
    (Kind.TIME, 1_796_562_000, "6 December 2026, 13:00 (UTC)", False, "2026-12-06T13:00:00Z"),
    (Kind.DATE, 1_796_562_000, "2026-12-06", False, "2026-12-06T13:00:00Z"),
    (Kind.DURATION, 7500.0, "2 h 5 min", True, 7500.0),
    (Kind.FLAG, True, "yes", False, True),
    (Kind.FLAG, False, "no", False, False),
]


def test_there_is_a_value_of_every_kind():
    assert {kind for kind, *_ in VALUES} == {*Kind}


@pytest.mark.parametrize(("kind", "value", "read", "right", "data"), VALUES)
def test_what_is_read_and_what_programs_get(kind, value, read, right, data):
    column = Column("value", "A long title of a column", kind, missing="none")
    table = Table([Column("row", "Row", Kind.NAME), column], [["r", value], ["s", None]])
    assert table.cells() == [["r", read], ["s", "none"]]
    assert as_objects(table) == [{"row": "r", "value": data}, {"row": "s", "value": None}]
    lines = render([table], "text").splitlines()
    assert lines[2] == "r    " + (f"{read:>24}" if right else read)
    assert render([table], "markdown").splitlines()[1].replace(" ", "").endswith("-:|" if right else "-|")
    assert f"{{l{'r' if right else 'l'}}}" in render([table], "latex")


@pytest.mark.parametrize(("kind", "text"), [(kind, "waits") for kind in Kind])
def test_a_text_in_any_column_is_read_and_missing_in_data(kind, text):
    table = Table([Column("value", "Value", kind)], [[text]])
    assert table.cells() == [[text]]
    assert as_objects(table) == [{"value": text if kind in (Kind.NAME, Kind.TEXT) else None}]


def test_a_rule_behind_the_last_row_is_the_end_of_the_table():
    table = Table([Column("a", "A"), Column("b", "B")], [["1", "2"], ["3", "4"]], rules=frozenset({1}))
    assert render([replace(table, rules=frozenset({1, 2}))], "latex") == render([table], "latex")
    assert tables(render([table], "latex"))


def test_undefined_numbers_are_no_json_and_letters_stay_as_they_are():
    assert as_json({"a": "č"}) == '{\n "a": "č"\n}\n'
    for number in (math.nan, math.inf):
        with pytest.raises(ValueError, match="JSON"):
            as_json({"a": number})


@pytest.mark.parametrize("form", ["json", "tsv", "csv", "text"])
def test_documents_rows_and_tables_are_each_of_their_own_form(form):
    """What is not asked for is not made."""
    made = []

    def of(name, value):
        return lambda: made.append(name) or value

    table = Table([Column("a", "A")], [["1"]])
    shown = render_document(
        form, document=of("json", {"a": 1}), data=of("rows", (["a"], [["=1,2"]])), tables=of("tables", [table])
    )
    expected = {"json": json.dumps({"a": 1}, indent=1) + "\n", "tsv": "a\n'=1,2\n", "csv": 'a\n"\'=1,2"\n'}
    assert shown == expected.get(form, render([table], "text"))
    assert made == [{"json": "json", "text": "tables"}.get(form, "rows")]
