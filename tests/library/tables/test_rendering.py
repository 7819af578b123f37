"""One table in every format."""

import csv
import io
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.tables import FORMATS
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Estimate, Kind, Table
from steelyard.tables.text import aligned, display_width
from tests.cli.latex_reader import tables

COLUMNS = [
    Column("system", "System", Kind.NAME),
    Column("score", "BLEU", Kind.ESTIMATE, higher_is_better=True),
    Column("ter", "TER", Kind.NUMBER, places=2, higher_is_better=False),
    Column("range", "Range", Kind.RANGE, missing="–"),
    Column("p", "p", Kind.P),
    Column("segments", "Segments", Kind.COUNT),
    Column("ended", "Ended", Kind.TIME, zone="Europe/Prague"),
    Column("took", "Took", Kind.DURATION),
    Column("ranked", "Ranked", Kind.FLAG),
    Column("runs", "Runs"),
]
ROWS = [
    [
        "=é_1",
        Estimate(47.53, (46.0, 48.04), 0.25),
        -1.5,
        (2, 4),
        0.00001,
        1200,
        1_796_562_000,
        7500.0,
        True,
        ["a", "b"],
    ],
    ["東京", Estimate(9.7, (8.0, 11.25)), math.nan, None, 0.25, 7, None, 0.4, False, []],
]
TABLE = Table(COLUMNS, ROWS, "Scores & more", notes=["A note."], rules=frozenset({1}), best=frozenset({(0, 1)}))


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match=rf"^'pdf' is none of {re.escape(str(FORMATS))}$"):
        render([TABLE], "pdf")


def test_a_score_without_an_interval_may_be_a_number_alone():
    table = Table(
        [Column("score", "BLEU", Kind.ESTIMATE, sign=True), Column("n", "n", Kind.ESTIMATE, places=3)], [[47.53, -2.0]]
    )
    assert render([table], "markdown").splitlines()[2].replace(" ", "") == "|+47.5|-2.000|"
    assert render([table], "text").splitlines()[2].split() == ["+47.5", "-2.000"]
    plain = Table([Column("score", "BLEU", Kind.ESTIMATE)], [[Estimate(47.53)], [47.53]])
    first, second = render([plain], "text").splitlines()[2:4]
    assert first == second


def test_text_sets_numbers_to_the_right_and_measures_wide_characters():
    short = replace(TABLE, columns=COLUMNS[:6], rows=[row[:6] for row in ROWS])
    assert render([short], "text") == (
        "Scores & more\n"
        "System  BLEU                     TER (lower is better)  Range        p  Segments\n"
        "------  -----------------------  ---------------------  -----  -------  --------\n"
        "=é_1    47.5 ± 0.2 [46.0, 48.0]                  -1.50    2-4  <0.0001     1,200\n"
        "------  -----------------------  ---------------------  -----  -------  --------\n"
        "東京           9.7 [8.0, 11.2]                     n/a      –   0.2500         7\n"
        "\n"
        "A note.\n"
    )
    shown = render([replace(TABLE, columns=COLUMNS[6:], rows=[row[6:] for row in ROWS])], "text").splitlines()
    assert re.split("  +", shown[3]) == ["6 December 2026, 14:00 (Europe/Prague)", "2 h 5 min", "yes", "a, b"]


def test_numbers_stand_below_each_other_whether_or_not_an_interval_follows():
    lines = aligned([["", "score"], ["a", "47.5 [46.0, 48.0]"], ["b", "9.7"], ["c", "n/a"]], right=[1]).splitlines()
    assert lines[2:] == ["a  47.5 [46.0, 48.0]", "b   9.7", "c   n/a"]


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("東京", 4), ("ｱ", 1), ("Ａ", 2), ("e\u0301", 1), ("שָׁ", 1), ("a\u200db", 2), ("", 0)],
)
def test_the_width_of_a_text_is_that_in_a_terminal(text, width):
    assert display_width(text) == width


def test_json_has_all_digits_and_null_where_nothing_is():
    found = json.loads(render([TABLE], "json"))
    assert found[0] == {
        "system": "=é_1", "score": {"value": 47.53, "low": 46.0, "high": 48.04}, "ter": -1.5,
        "range": {"low": 2, "high": 4}, "p": 0.00001, "segments": 1200, "ended": "2026-12-06T13:00:00Z", "took": 7500.0,
        "ranked": True, "runs": ["a", "b"],
    }  # fmt: skip
    assert [found[1][key] for key in ("ter", "range", "ended", "runs")] == [None, None, None, []]
    both = json.loads(render([replace(TABLE, key="one"), replace(TABLE, key="two", rows=[])], "json"))
    assert both == {"one": found, "two": []}


@pytest.mark.parametrize(("form", "delimiter"), [("tsv", "\t"), ("csv", ",")])
def test_delimited_values_have_all_digits_and_no_formulas(form, delimiter):
    first, second = csv.DictReader(io.StringIO(render([TABLE], form)), delimiter=delimiter)
    assert first == {
        "system": "'=é_1", "score": "47.53", "score_low": "46.0", "score_high": "48.04", "ter": "-1.5",
        "range_low": "2", "range_high": "4", "p": "1e-05", "segments": "1200", "ended": "2026-12-06T13:00:00Z",
        "took": "7500.0", "ranked": "yes", "runs": "a, b",
    }  # fmt: skip
    assert {key for key, value in second.items() if not value} == {"ter", "range_low", "range_high", "ended", "runs"}


def test_latex_escapes_and_stresses():
    source = render([replace(TABLE, starred=frozenset({(1, 1)}))], "latex")
    ((caption, rows),) = tables(source)
    assert caption == "Scores & more"
    assert r"\textbf{47.5}" in source
    assert r"9.7$^{*}$" in source
    assert source.count(r"\midrule") == 2
    assert rows[1][0] == "=é_1"
    assert rows[0][4] == "p"
    assert rows[1][3] == "2–4"
    assert source.endswith("% A note.\n")


class Page(HTMLParser):
    """The cells of each row, and the names of the elements."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1] and data.strip():
            self.rows[-1][-1] += data


def test_html_is_typeset_and_says_which_cells_are_names():
    source = render([TABLE], "html")
    page = Page(source)
    assert page.rows[1][2] == "−1.50"
    assert page.rows[1][3] == "2–4"
    assert "<strong>47.5 ± 0.2 [46.0, 48.0]</strong>" in source
    assert '<h2 id="table-1">Scores &amp; more</h2>' in source
    assert [attributes for tag, attributes in page.elements if tag == "th" and attributes["scope"] == "row"] == [
        {"scope": "row", "dir": "auto"}
    ] * 2


@pytest.mark.parametrize("form", FORMATS)
def test_an_empty_table_is_said_or_has_no_rows(form):
    empty = Table(COLUMNS, [], "Scores", empty="There are no systems.")
    shown = render([empty], form)
    assert ("There are no systems." in shown) == (form in ("text", "markdown", "latex", "html"))
    assert json.loads(shown) == [] if form == "json" else shown


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
def test_the_notes_of_an_empty_table_say_why_it_is_empty(form):
    empty = Table(COLUMNS, [], "Scores", notes=["Nothing was handed in."], empty="There are no systems.")
    shown = render([empty], form)
    assert 0 <= shown.index("There are no systems.") < shown.index("Nothing was handed in.")


def unescaped(cell: str) -> str:
    result, escape = "", False
    for character in cell:
        if character == "\\" and not escape:
            escape = True
            continue
        result, escape = result + character, False
    return result


@given(
    st.lists(st.text(st.characters(blacklist_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1), min_size=1, max_size=4)
)
def test_markdown_and_html_keep_every_text(names):
    table = Table([Column("name", "Name", Kind.NAME), Column("n", "n", Kind.COUNT)], [[name, 1] for name in names])
    lines = render([table], "markdown").splitlines()
    assert [unescaped(line.removeprefix("| ").removesuffix(" | 1 |")) for line in lines[2:]] == [
        name.strip() for name in names
    ]
    assert [row[0].strip() for row in Page(render([table], "html")).rows[1:]] == [name.strip() for name in names]
