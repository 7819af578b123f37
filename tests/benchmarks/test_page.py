"""What benchmarks found goes between its marks on the page, and nothing else moves."""

import json

import pytest

from benchmarks.report import page
from benchmarks.report.page import (
    FIGURES,
    IMAGES,
    PAGE,
    Measured,
    NoSuchMark,
    keep,
    machine_text,
    read_figures,
    replaced,
)
from benchmarks.report.section import Chart, Line, Section, Table

TEXT = """# Page

By hand before.

<!-- bench:machine -->
<!-- /bench:machine -->
<!-- bench:aims -->
<!-- /bench:aims -->

<!-- bench:warm -->
old | old
<!-- /bench:warm -->

By hand between: <!-- a comment -->

<!-- bench:cold -->
old, too
<!-- /bench:cold -->
By hand after.
"""
MACHINE = {"CPU": "a fast one"}


def section(name: str = "warm", ratio: float = 140.0) -> Section:
    bars = Line("sacreBLEU", ["BLEU", "TER"], [ratio, 500.0], [ratio - 1, 400.0], [ratio + 1, 600.0])
    parts = [
        Table(["workload", "ratio"], [["BLEU", f"{ratio}×"], ["TER", ""]], "wmt22: 2,037 segments"),
        "A peer was left out.",
        Chart("ratios", f"{name}-wmt22", "Warm", ["times as fast"], [bars]),
    ]
    return Section(name, parts, {"bleu.ratio": ratio})


@pytest.fixture
def docs(tmp_path):
    (tmp_path / PAGE).write_text(TEXT)
    return tmp_path


def test_only_what_is_between_the_marks_changes():
    new = replaced(TEXT, "warm", "new\nlines")
    assert new == TEXT.replace("old | old", "new\nlines")
    assert replaced(new, "warm", "old | old") == TEXT


def test_backslashes_and_groups_are_plain_text():
    assert r"\1 \g<0> $1" in replaced(TEXT, "warm", r"\1 \g<0> $1")


@pytest.mark.parametrize(
    "broken",
    [
        TEXT.replace("<!-- bench:warm -->", ""),
        TEXT.replace("<!-- /bench:warm -->", ""),
        TEXT + "<!-- bench:warm -->",
        TEXT.replace("<!-- bench:warm -->", "<!-- x -->").replace("<!-- /bench:warm -->", "<!-- bench:warm -->"),
        "<!-- /bench:warm --><!-- bench:warm -->",
    ],
)
def test_missing_doubled_and_turned_marks_are_refused(broken):
    with pytest.raises(NoSuchMark, match="bench:warm"):
        replaced(broken, "warm", "new")


def test_a_section_comes_back_from_its_figures(docs):
    measured = Measured(section(), "python -m benchmarks warm", "1 May 2027", "0.1 to 1.0", MACHINE)
    keep(docs, measured)
    assert read_figures(docs) == {"warm": measured}
    kept = json.loads((docs / FIGURES).read_text())
    assert kept["sections"][0]["figures"] == {"bleu.ratio": 140.0}


def test_the_page_has_command_table_note_and_picture(docs):
    keep(docs, Measured(section(), "python -m benchmarks warm", "1 May 2027", "0.1 to 1.0", MACHINE))
    written = (docs / PAGE).read_text()
    between = written.split("<!-- bench:warm -->\n")[1].split("\n<!-- /bench:warm -->")[0]
    assert between == (
        "`python -m benchmarks warm`, 1 May 2027, load 0.1 to 1.0\n\n"
        "wmt22: 2,037 segments\n\n"
        "| workload | ratio |\n| --- | --- |\n| BLEU | 140.0× |\n| TER | |\n\n"
        "A peer was left out.\n\n"
        "![Warm](images/bench-warm-wmt22.svg)"
    )
    assert (docs / IMAGES / "bench-warm-wmt22.svg").exists()
    assert "- CPU: a fast one" in written
    assert "| `warm` | met |" in written, "aims are computed anew"
    for by_hand in ("By hand before.", "By hand between: <!-- a comment -->", "old, too", "By hand after.\n"):
        assert by_hand in written


def test_one_section_leaves_the_others(docs):
    cold = Measured(section("cold"), "python -m benchmarks cold", "1 May 2027", "0.1", MACHINE)
    keep(docs, cold)
    keep(docs, Measured(section(), "python -m benchmarks warm", "2 May 2027", "0.1", {"CPU": "another"}))
    again = Measured(section(ratio=41.0), "python -m benchmarks warm --rounds 9", "3 May 2027", "0.1", MACHINE)
    keep(docs, again)
    assert read_figures(docs) == {"warm": again, "cold": cold}
    assert list(read_figures(docs)) == ["warm", "cold"], "in the order of the page"
    written = (docs / PAGE).read_text()
    assert "2 May" not in written
    assert "3 May" in written
    assert "1 May" in written


def test_a_picture_that_is_no_longer_made_goes(docs):
    images = docs / IMAGES
    images.mkdir()
    for name in ("bench-warm-generated.svg", "bench-warmer.svg", "bench-cold.svg", "report.png"):
        (images / name).write_text("")
    keep(docs, Measured(section(), "python -m benchmarks warm", "1 May 2027", "0.1", MACHINE))
    assert sorted(path.name for path in images.iterdir()) == [
        "bench-cold.svg", "bench-warm-wmt22.svg", "bench-warmer.svg", "report.png",
    ]  # fmt: skip


def test_machines_that_differ_are_both_named():
    assert machine_text([{"CPU": "one"}, {"CPU": "two", "system": "Linux"}]) == "- CPU: one; also two\n- system: Linux"
    assert machine_text([]) == page.NOTHING
