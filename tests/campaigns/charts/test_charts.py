"""Charts: the same bytes each time, nothing from outside taken for markup, fit for a strict page."""

import csv
import io
import itertools
import math
import os
import re
import subprocess
import sys
from urllib.parse import unquote
from xml.etree.ElementTree import Element, fromstring

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.nightly.regression import Subject
from analysis.nightly.series import Change, Point, ScoreSeries
from campaigns.charts import Series, chart_of_runs, charts_of_runs, curve, scatter
from campaigns.charts.effects import BETTER, WORSE, Effect, effects
from campaigns.charts.element import element
from campaigns.charts.lettering import MAX_LABEL_LENGTH
from campaigns.charts.numbers import csv_address
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


def parsed(svg: str) -> Element:
    """A chart whose elements have what their groups say of them, as in a browser."""
    root = fromstring(svg)
    for group in root.iter(f"{SVG}g"):
        for each in group:
            each.attrib = {**group.attrib, **each.attrib}
    return root


def texts(svg: str) -> list[str]:
    return [element.text for element in parsed(svg).iter(f"{SVG}text")]


def test_the_same_chart_has_the_same_bytes():
    assert scatter(POINTS, "BLEU", "chrF2") == scatter(POINTS, "BLEU", "chrF2")
    assert curve(LINES, "gamma", "tau", mark=0.1) == curve(LINES, "gamma", "tau", mark=0.1)
    assert scatter(POINTS, "BLEU", "chrF2") != scatter(POINTS[:2], "BLEU", "chrF2")


def test_a_scatter_has_a_mark_and_a_name_for_each_point():
    svg = scatter([*POINTS, ("lost", math.nan, 1.0)], "BLEU", "chrF2", title="Two metrics")
    assert {"anchor", "cable", "ebb", "BLEU", "chrF2"} < set(texts(svg))
    assert "lost" not in texts(svg)
    marks = [each for each in parsed(svg).iter(f"{SVG}use") if each.get("fill") in SERIES]
    places = [(float(each.get("x")), float(each.get("y"))) for each in marks]
    assert len(places) == 3
    # Best at the top right: larger values to the right and, in SVG, nearer to 0.
    assert sorted(places, reverse=True) == places
    assert sorted(places, key=lambda place: place[1]) == places


def test_names_that_would_meet_are_left_out_but_their_points_stay():
    svg = scatter([(f"system {n}", 1.0 + n / 1e6, 1.0) for n in range(40)], "x", "y")
    named = sum(text.startswith("system") for text in texts(svg))
    assert 1 <= named < 40
    assert sum(each.get("fill") in SERIES for each in parsed(svg).iter(f"{SVG}use")) == 40
    assert svg.count(f'fill="{SERIES[0]}"') == 1, "what looks alike says so once"


def test_lines_differ_by_marker_and_dashes_too():
    svg = curve([Series(str(n), [0, 1], [n, n + 1]) for n in range(8)], "x", "y")
    lines = [
        (each.get("stroke"), each.get("stroke-dasharray"))
        for each in parsed(svg).iter(f"{SVG}path")
        if each.get("stroke") in SERIES and each.get("stroke-width") == "1.8"
    ]
    assert len(set(lines)) == 8
    ticked = curve([Series("a", [0, 1], [1, 2])], "length", "BLEU", ticks=["1–10", "11–20"], joined=False)
    assert {"1–10", "11–20"} < set(texts(ticked))
    assert not [each for each in fromstring(ticked).iter(f"{SVG}path") if each.get("stroke-width") == "1.8"]


def test_names_of_lines_that_end_at_the_top_are_below_one_another():
    svg = curve([Series(f"line {n}", [0, 1], [0, 50 - n / 1000]) for n in range(6)], "x", "y")
    heights = {each.text: float(each.get("y")) for each in parsed(svg).iter(f"{SVG}text")}
    named = [heights[f"line {n}"] for n in range(6)]
    assert all(other - one > 10 for one, other in itertools.pairwise(named))
    assert named[0] >= heights["50"] - 1


def test_bands_and_marks_are_drawn():
    plain, full = curve([LINES[1]], "x", "y"), curve(LINES, "x", "y", mark=0.1)
    assert "opacity" not in plain
    assert "opacity" in full


@pytest.mark.parametrize("svg", [scatter(POINTS, "x", "y"), curve(LINES, "x", "y")], ids=["scatter", "curve"])
def test_a_strict_page_can_hold_it(svg):
    root = parsed(svg)
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
        # Black by default: a dark page could not change it.
        assert each.tag != f"{SVG}text" or each.get("fill") in CLASSES
        assert each.get("stroke") is None or each.tag != f"{SVG}path" or each.get("fill") == "none"
    assert root.get("role") == "img"
    names = root.get("aria-labelledby").split()
    assert [bool(root.find(f"*[@id='{name}']").text) for name in names] == [True, True]
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))


def test_two_charts_in_a_page_share_no_ids():
    def ids(svg):
        return {element.get("id") for element in parsed(svg).iter() if element.get("id")}

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
    points = [each.get("fill") for each in parsed(svg).iter(f"{SVG}use")]
    assert points == [BETTER, SOFT]
    assert ">0<" in svg, "zero is on the axis"
    assert svg == effects(rows, "BLEU", title="Differences")
    without = effects([Effect("a – b", 1.0, math.nan, math.nan, True)], "BLEU", title="One")
    assert without.count("<use ") == 1


def paths(svg: str, **wanted: str) -> list[list[tuple[float, float]]]:
    """The corners of each path with these attributes, in pixels."""
    found = [each for each in parsed(svg).iter(f"{SVG}path") if wanted.items() <= each.attrib.items()]
    return [[tuple(map(float, pair.split())) for pair in re.split("[ML]", each.get("d"))[1:]] for each in found]


def marks(svg: str, colour: str) -> list[tuple[float, float]]:
    uses = [each for each in parsed(svg).iter(f"{SVG}use") if each.get("fill") == colour]
    return [(float(each.get("x")), float(each.get("y"))) for each in uses]


def frame(svg: str) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of the axes."""
    ((left, top), (_, bottom), (right, _)) = paths(svg, stroke=SOFT, **{"stroke-width": "1"})[-1]
    return left, top, right, bottom


def changed(since: int, until: int, before: float, after: float, *, worse: bool, counts: bool = True) -> Change:
    subject = Subject("mast", "quay", ("A",), "bleu")
    return Change(
        subject, "BLEU", date(since), date(until), 9, 9, before, after, None, 0.01, 0.01, worse, counts, new=True
    )


def date(run: int) -> str:
    return f"2027-03-{run + 1:02}"


def test_levels_of_runs_reach_from_change_to_change() -> None:
    scores = [30.0] * 8 + [26.0] * 8 + [34.0] * 8
    points = tuple(Point(date(run), score, (score - 1, score + 1)) for run, score in enumerate(scores))
    changes = (
        changed(8, 15, 30.0, 26.0, worse=True),
        changed(16, 23, 26.0, 34.0, worse=False, counts=False),
    )
    svg = chart_of_runs(ScoreSeries(Subject("mast", "quay", ("A",), "bleu"), "BLEU", "", True, points, changes))
    runs = marks(svg, SERIES[0])
    assert len(runs) == 24
    half = (runs[1][0] - runs[0][0]) / 2
    begins = {run: runs[run][0] - half for run in (0, 8, 16)}
    _, top, _, bottom = frame(svg)
    for colour, changes_at in ((SERIES[1], 8), (SERIES[2], 16)):
        (upright,) = paths(svg, stroke=colour, **{"stroke-width": "1.2"})
        assert upright == [pytest.approx((begins[changes_at], end), abs=0.02) for end in (bottom, top)]
    height = {score: runs[scores.index(score)][1] for score in (30.0, 26.0, 34.0)}
    expected = [
        (SOFT, begins[0], begins[8], height[30.0]),
        (SERIES[1], begins[8], begins[16], height[26.0]),
        (SERIES[2], begins[16], runs[-1][0] + half, height[34.0]),
    ]
    for colour, begin, end, y in expected:
        (level,) = paths(svg, stroke=colour, **{"stroke-width": "1.6"})
        assert level == [pytest.approx((x, y), abs=0.02) for x in (begin, end)]
    assert {"▼ worse -4", "▲ better +8 (not significant)", date(0), date(8), date(16), date(23)} < set(texts(svg))
    assert "24 runs with a score. worse since 2027-03-09; better since 2027-03-17." in svg


def test_words_about_changes_that_would_meet_are_left_out() -> None:
    points = tuple(Point(date(run), float(run)) for run in range(24))
    changes = tuple(changed(at, at + 2, 0.0, 1.0 + at, worse=False) for at in (2, 4, 8, 20))
    svg = chart_of_runs(ScoreSeries(Subject("mast", "quay", ("A",), "bleu"), "BLEU", "", True, points, changes))
    written = [each for each in texts(svg) if each and each.startswith("▲")]
    assert written == ["▲ better +3", "▲ better +9", "▲ better +21"]


def test_levels_end_where_the_axes_do() -> None:
    points = (Point(date(0), 2.0), Point(date(1), None), Point(date(2), 1.0))
    change = changed(2, 2, 2.0, 1.0, worse=True)
    svg = chart_of_runs(ScoreSeries(Subject("mast", "quay", ("A",), "bleu"), "TER", "", False, points, (change,)))
    left, _, right, _ = frame(svg)
    levels = paths(svg, **{"stroke-width": "1.6"})
    assert levels[0][0][0] == left
    assert levels[-1][-1][0] == right
    assert "TER (lower is better): mast, quay" in "".join(filter(None, texts(svg)))
    assert "2 runs with a score." in svg


def test_charts_of_runs_are_below_each_other_and_their_title_is_text() -> None:
    series = ScoreSeries(Subject("<b>", "quay", ("A",), "bleu"), "BLEU", "", True, (Point(date(0), None),), ())
    svg = charts_of_runs([series, series], title="a & <b>\x00")
    root = parsed(svg)
    assert root.find(f"{SVG}title").text == "a & <b>\N{REPLACEMENT CHARACTER}"
    assert [each.get("y") for each in root.findall(f"{SVG}svg")] == ["0", "260"]
    assert root.get("height") == "520"
    assert "No lasting change." in svg
    assert fromstring(charts_of_runs([])).get("height") == "1"


def test_long_names_of_lines_leave_room_for_the_lines() -> None:
    svg = curve([Series("x" * 5000, [0.0, 1.0], [1.0, 2.0])], "x", "y")
    first, second, named = marks(svg, SERIES[0])
    left, top, right, bottom = frame(svg)
    assert left < first[0] < second[0] < right < named[0]
    assert right - left > 300
    assert top < second[1] < first[1] < bottom
    assert max(map(len, filter(None, texts(svg)))) == 24


def test_names_of_lines_stand_apart_inside_the_axes() -> None:
    low = [Series(f"line {n}", [0.0, 1.0], [0.0, 0.0]) for n in range(5)]
    svg = curve([*low, Series("high", [0.0, 1.0], [9.0, 9.0])], "x", "y")
    named = {
        each.text: float(each.get("y")) for each in parsed(svg).iter(f"{SVG}text") if each.text[:4] in ("line", "high")
    }
    heights = sorted(named.values())
    assert len(named) == 6
    assert min(named, key=named.__getitem__) == "high"
    assert all(after - before >= 14.99 for before, after in itertools.pairwise(heights))
    assert heights[-1] <= frame(svg)[3] + 11


def test_bands_are_between_their_ends_and_have_gaps() -> None:
    gap = Series("a", [0.0, 1.0, 2.0, 3.0, 4.0], [1, 1, math.nan, 1, 1], [0, 0, math.nan, 0, 0], [2, 2, math.nan, 2, 2])
    svg = curve([gap], "x", "y", mark=9.0)
    ((band,),) = [[each.get("d") for each in parsed(svg).iter(f"{SVG}path") if each.get("fill-opacity")]]
    assert band.count("M") == band.count("z") == 2
    first = [tuple(map(float, pair.split())) for pair in band[1:].split("z")[0].split("L")]
    xs, ys = zip(*first, strict=True)
    assert xs[0] == xs[3] < xs[1] == xs[2]
    assert ys[0] == ys[1] > ys[2] == ys[3], "the lower end first, and back by the upper one"
    assert not paths(svg, **{"stroke-width": "1.2"}), "a mark beside the axis is not drawn"


def test_effects_reach_as_far_as_is_asked_and_have_their_intervals() -> None:
    rows = [Effect("mast – lamp", -3.0, -5.0, -1.0, True, good=False), Effect("lamp – sail", 2.0, 1.0, 3.0, True)]
    svg = effects(rows, "BLEU", title="Differences", ends=10.0)
    ((zero, _), _) = paths(svg, stroke=SOFT, **{"stroke-width": "1.4"})[0]
    ((worse, first),), ((better, second),) = (marks(svg, colour) for colour in (WORSE, BETTER))
    assert worse < zero < better
    assert first < second, "from top to bottom"
    unit = (better - zero) / 2
    assert worse == pytest.approx(zero - 3 * unit, abs=0.05)
    for colour, ends, y in ((WORSE, (-5, -1), first), (BETTER, (1, 3), second)):
        (line,) = paths(svg, stroke=colour, **{"stroke-width": "2.2"})
        assert line == [pytest.approx((zero + end * unit, y), abs=0.1) for end in ends]
    left, _, right, _ = frame(svg)
    assert (left, right) == (pytest.approx(zero - 11.2 * unit, abs=0.5), pytest.approx(zero + 11.2 * unit, abs=0.5))


def test_turned_axes_begin_with_the_largest_value():
    points = [("good", 30.0, 50.0), ("bad", 60.0, 40.0)]
    plain, turned = scatter(points, "TER ↓", "BLEU"), scatter(points, "TER ↓", "BLEU", turned=(True, False))

    def places(svg: str) -> list[tuple[float, float]]:
        return [(float(each.get("x", "")), float(each.get("y", ""))) for each in parsed(svg).iter(f"{SVG}use")]

    assert places(plain)[0][0] < places(plain)[1][0]
    assert places(turned)[0][0] > places(turned)[1][0], "the better one is at the right"
    assert [y for _, y in places(plain)] == [y for _, y in places(turned)]
    # The same numbers stand at the axis, from the other end.
    assert sorted(texts(plain)) == sorted(texts(turned))


def test_a_name_has_its_colour_in_every_chart():
    colours = [
        [each.get("fill") for each in parsed(scatter(points, "x", "y")).iter(f"{SVG}use")]
        for points in ([("a", 1.0, 1.0), ("b", 2.0, 2.0)], [("a", math.nan, 1.0), ("b", 2.0, 2.0)])
    ]
    assert len(set(colours[0])) == 2
    assert colours[1] == colours[0][1:]


def test_numbers_of_a_chart_are_a_file_in_its_page():
    address = csv_address(["system", "BLEU"], [("=a, b", 12.5), ("č", math.nan)])
    kind, _, content = address.partition(",")
    assert kind == "data:text/csv;charset=utf-8"
    assert list(csv.reader(io.StringIO(unquote(content)))) == [["system", "BLEU"], ["'=a, b", "12.5"], ["č", ""]]
    assert not set(content) & set(" \"'<>&")


def test_the_name_of_a_series_has_the_width_of_its_chart() -> None:
    subject = Subject("CUNI-DocTransformer", "newstest2022", ("A", "B", "C"), "bleu")
    svg = chart_of_runs(ScoreSeries(subject, "BLEU", "", True, (Point(date(0), 30.0),), ()))
    assert f"BLEU: CUNI-DocTransformer, {subject.where}" in texts(svg)
