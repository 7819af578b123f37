"""Charts: the same bytes each time, nothing from outside taken for markup, fit for a strict page."""

import math
import os
import re
import subprocess
import sys
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from campaigns.charts import Series, curve, scatter
from campaigns.charts.effects import BETTER, Effect, effects
from campaigns.charts.element import element
from campaigns.charts.lettering import MAX_LABEL_LENGTH
from campaigns.charts.palette import CLASSES, SERIES, SOFT
from tests.acceptance.commands import REPOSITORY

POINTS = [("anchor", 66.0, 72.8), ("cable", 47.6, 63.5), ("ebb", 9.7, 40.9)]
LINES = [
    Series("cbow", [0.0, 0.1, 0.2], [0.8, 0.9, 0.7], [0.7, 0.8, 0.6], [0.9, 0.95, 0.8]),
    Series("skip-gram", [0.0, 0.1, 0.2], [0.6, math.nan, 0.7]),
]
NASTY = [
    "<script>alert(1)</script>",
    "]]>&amp;",
    "--><b>",
    "$x_1^{",
    "שלום",
    "نظام",
    "翻译 🙂",
    "a\x00b\x1b",
    "'\"",
    "",
]
SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return [element.text for element in fromstring(svg).iter(f"{SVG}text")]


def test_the_same_chart_has_the_same_bytes():
    assert scatter(POINTS, "BLEU", "chrF2") == scatter(POINTS, "BLEU", "chrF2")
    assert curve(LINES, "gamma", "tau", mark=0.1) == curve(LINES, "gamma", "tau", mark=0.1)
    assert scatter(POINTS, "BLEU", "chrF2") != scatter(POINTS[:2], "BLEU", "chrF2")


def test_a_scatter_has_a_mark_and_a_name_for_each_point():
    svg = scatter([*POINTS, ("lost", math.nan, 1.0)], "BLEU", "chrF2", title="Two metrics")
    assert {"anchor", "cable", "ebb", "BLEU", "chrF2"} < set(texts(svg))
    assert "lost" not in texts(svg)
    marks = [each for each in fromstring(svg).iter(f"{SVG}use") if each.get("fill") == SERIES[0]]
    places = [(float(each.get("x")), float(each.get("y"))) for each in marks]
    assert len(places) == 3
    # Best at the top right: larger values to the right and, in SVG, nearer to 0.
    assert sorted(places, reverse=True) == places
    assert sorted(places, key=lambda place: place[1]) == places


def test_names_that_would_meet_are_left_out_but_their_points_stay():
    svg = scatter([(f"system {n}", 1.0 + n / 1e6, 1.0) for n in range(40)], "x", "y")
    named = sum(text.startswith("system") for text in texts(svg))
    assert 1 <= named < 40
    assert sum(each.get("fill") == SERIES[0] for each in fromstring(svg).iter(f"{SVG}use")) == 40


def test_lines_differ_by_marker_and_dashes_too():
    svg = curve([Series(str(n), [0, 1], [n, n + 1]) for n in range(8)], "x", "y")
    lines = [
        (each.get("stroke"), each.get("stroke-dasharray"))
        for each in fromstring(svg).iter(f"{SVG}path")
        if each.get("stroke") in SERIES and each.get("stroke-width") == "1.8"
    ]
    assert len(set(lines)) == 8
    ticked = curve([Series("a", [0, 1], [1, 2])], "length", "BLEU", ticks=["1–10", "11–20"], joined=False)
    assert {"1–10", "11–20"} < set(texts(ticked))
    assert not [each for each in fromstring(ticked).iter(f"{SVG}path") if each.get("stroke-width") == "1.8"]


def test_bands_and_marks_are_drawn():
    plain, full = curve([LINES[1]], "x", "y"), curve(LINES, "x", "y", mark=0.1)
    assert "opacity" not in plain
    assert "opacity" in full


@pytest.mark.parametrize("svg", [scatter(POINTS, "x", "y"), curve(LINES, "x", "y")], ids=["scatter", "curve"])
def test_a_strict_page_can_hold_it(svg):
    root = fromstring(svg)
    for each in root.iter():
        assert each.tag not in {f"{SVG}style", f"{SVG}script", f"{SVG}image", f"{SVG}a", f"{SVG}metadata"}
        assert "style" not in each.attrib
        assert not any(key.startswith("on") for key in each.attrib)
        for value in each.attrib.values():
            assert "//" not in value or each is root
        painted = [each.get("fill"), each.get("stroke")]
        for colour in painted:
            # What has a colour has the class by which a dark page changes it.
            assert colour in {None, "none"} or CLASSES[colour] in each.get("class")
    assert root.get("role") == "img"
    names = root.get("aria-labelledby").split()
    assert [bool(root.find(f"*[@id='{name}']").text) for name in names] == [True, True]
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))


def test_two_charts_in_a_page_share_no_ids():
    def ids(svg):
        return {element.get("id") for element in fromstring(svg).iter() if element.get("id")}

    assert not ids(scatter(POINTS, "x", "y")) & ids(scatter(POINTS[:2], "x", "y"))


@pytest.mark.parametrize("name", NASTY)
def test_names_are_text_never_markup_or_mathematics(name):
    shown = "".join("\N{REPLACEMENT CHARACTER}" if letter in "\x00\x1b" else letter for letter in name)
    for svg in (
        scatter([(name, 1.0, 2.0)], name, name, title=name, description=name),
        curve([Series(name, [0, 1], [1, 2])], name, name, ticks=[name, "b"], title=name, description=name),
    ):
        assert "<script" not in svg
        assert "<b>" not in svg
        assert (texts(svg).count(shown or None)) >= 3


def test_long_names_are_cut():
    assert max(len(text) for text in texts(scatter([("x" * 5000, 1.0, 1.0)], "y" * 5000, "z"))) == MAX_LABEL_LENGTH


@settings(max_examples=15)
@given(st.lists(st.tuples(st.text(max_size=8), *[st.floats(-1e12, 1e12)] * 2), max_size=5), st.text(max_size=8))
def test_any_points_make_a_chart(points, label):
    fromstring(scatter(points, label, label, title=label))


def test_nothing_to_show_is_an_empty_chart():
    assert texts(scatter([], "BLEU", "TER")) == ["BLEU", "TER"]
    assert "x" in texts(curve([], "x", "y"))
    fromstring(curve([Series("none", [0, 1], [math.nan, math.nan])], "x", "y"))


def test_a_home_that_cannot_be_written_to_is_no_concern_of_the_reader(tmp_path):
    # Below a file there is no folder to write to, for root neither.
    (tmp_path / "file").touch()
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", "from campaigns.charts import scatter; scatter([('a', 1, 2)], 'x', 'y')"],
        cwd=REPOSITORY,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path / "file" / "home"), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_texts_and_values_of_an_element_are_escaped():
    drawn = element("text", 'a<b & "c"', id='"><script>', stroke_width=0.5)
    assert fromstring(drawn).text == 'a<b & "c"'
    assert fromstring(drawn).attrib == {"id": '"><script>', "stroke-width": "0.5"}


def test_effects_are_drawn_around_zero_and_say_what_is_certain() -> None:
    rows = [Effect("mast – lamp", 3.0, 1.0, 5.0, True), Effect("lamp – sail", 0.5, -1.0, 2.0, False)]
    svg = effects(rows, "BLEU", title="Differences")
    assert "mast – lamp" in svg
    assert "<title" in svg
    # One filled point of each kind: blue where it is certain, grey where it is not.
    points = re.findall(r'<use [^>]*fill="(#\w+)"', svg)
    assert points == [BETTER, SOFT]
    assert ">0<" in svg, "zero is on the axis"
    assert svg == effects(rows, "BLEU", title="Differences")
    without = effects([Effect("a – b", 1.0, math.nan, math.nan, True)], "BLEU", title="One")
    assert without.count("<use ") == 1
