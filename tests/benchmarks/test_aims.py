"""Whether an aim is met is computed, never written."""

import pytest

from benchmarks.__main__ import SECTIONS
from benchmarks.report.aims import AIMS, Aim, aims_table
from benchmarks.report.page import COMPUTED, DOCS, PAGE, marks

FASTER = Aim("BLEU", "warm.bleu.ratio", 35, "×", 100)
SHORT = Aim("latency", "latency.embedded.p95", 1.0, "s")


@pytest.mark.parametrize(
    ("aim", "value", "shown", "verdict"),
    [
        (FASTER, 34.99, "35.0×", "**missed**"),
        (FASTER, 35.0, "35.0×", "met"),
        (FASTER, 1758.9, "1,758.9×", "met, and the stretch"),
        (SHORT, 1.0, "1 s", "met"),
        (SHORT, 1.001, "1.001 s", "**missed**"),
        (Aim("memory", "a.b", 512, "MiB"), 300.4, "300 MiB", "met"),
        (Aim("share", "a.b", 0.85, "%", at_least=True), 0.9213, "92.1 %", "met"),
        (Aim("share", "a.b", 0.85, "%", at_least=True), 0.8, "80.0 %", "**missed**"),
        (Aim("more", "a.b", 0.03, "ms", 0.008), 0.0123, "12.3 ms", "met"),
        (Aim("exponent", "a.b", 1.05, ""), 1.2, "1.2", "**missed**"),
        (Aim("rate", "a.b", 20_000, "segments/s", at_least=True), 950_000.4, "950,000 segments/s", "met"),
    ],
)
def test_figures_are_judged(aim, value, shown, verdict):
    row = aim.row({aim.figure: value})
    assert (row[3], row[5]) == (shown, verdict)


def test_what_was_not_measured_is_open():
    row = FASTER.row({})
    assert row == ["BLEU", "≥ 35×", "100×", "", "`warm`", "open"]
    assert SHORT.row({})[1:3] == ["≤ 1 s", ""]


def test_every_aim_is_in_the_table_and_has_a_figure_of_its_own():
    assert len(aims_table({}).rows) == len(AIMS) == len({aim.figure for aim in AIMS})


def test_every_benchmark_has_its_place_on_the_page():
    assert {*SECTIONS, *COMPUTED} <= {*marks((DOCS / PAGE).read_text())}
