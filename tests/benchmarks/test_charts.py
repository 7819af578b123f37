"""Pictures are SVG that stands alone, with title, labels and figures, and the same bytes for the same figures."""

import pytest
from defusedxml.ElementTree import fromstring

from benchmarks.report.charts import draw
from benchmarks.report.section import Chart, Line

SVG = "{http://www.w3.org/2000/svg}"
CHARTS = {
    "ratios": Chart(
        "ratios", "warm", "Warm & quick", ["times"],
        [
            Line("sacreBLEU", ["BLEU", "TER <all>"], [0.8, 1759.2], [0.7, 1700.0], [0.9, 1800.0]),
            Line("NLTK", ["NIST"], [60]),
        ],
    ),
    "growth": Chart(
        "growth", "growth", "Growth", ["segments", "CPU s"],
        [Line("CPU", [2000, 4000, 8000], [1.0, 2.0, 4.0]), Line("wall", [2000, 4000, 8000], [1.0, 1.0, 1.0])],
    ),
    "stacked": Chart(
        "stacked", "together", "Parts", ["CPU s"],
        [Line(f"part {n}", ["en-cs", "de-en"], [0.1 * n, 0.2]) for n in range(15)],
    ),
    "beside": Chart(
        "beside", "cold", "Memory", ["MiB"], [Line("ours", ["BLEU"], [39.0]), Line("peer", ["BLEU"], [5800.0])]
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", CHARTS)
def test_a_chart_is_an_svg_with_title_and_texts(kind):
    chart = CHARTS[kind]
    root = fromstring(draw(chart))
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title").text == chart.title
    texts = {element.text for element in root.iter(f"{SVG}text")}
    assert chart.axes[0] in texts
    for line in chart.lines:
        assert any(line.name in text for text in texts if text)
    left, top, width, height = map(float, root.get("viewBox").split())
    assert (left, top) == (0, 0)
    assert width > 300
    assert height > 100


@pytest.mark.parametrize("kind", CHARTS)
def test_the_same_figures_give_the_same_bytes(kind):
    assert draw(CHARTS[kind]) == draw(CHARTS[kind])


def test_exponents_stand_beside_the_names():
    texts = {element.text for element in fromstring(draw(CHARTS["growth"])).iter(f"{SVG}text")}
    assert {"CPU: exponent 1.00", "wall: exponent 0.00"} <= texts


def test_ratios_stand_beside_their_bars():
    texts = {element.text for element in fromstring(draw(CHARTS["ratios"])).iter(f"{SVG}text")}
    assert {"0.8×", "1,759.2×", "60.0×", "TER <all> (sacreBLEU)"} <= texts
