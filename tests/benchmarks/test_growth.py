"""Growth: what is evaluated along an axis, and what is made of what was measured."""

import os

import pytest

from benchmarks.growth import AXES, BY_COST, Point, exponents, points, table, workers
from benchmarks.harness.evaluating import Evaluated


def run(seconds: float) -> Evaluated:
    return Evaluated(wall=1 + seconds, cpu=seconds, peak=100.0, work=seconds**2, scores={})


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("axis", AXES)
def test_amounts_rise_and_all_else_is_the_same(axis, quick):
    found = points(axis, quick=quick)
    assert [point.amount for point in found] == sorted({point.amount for point in found})
    vary = {"segments": "segments", "systems": "systems", "metrics": "metrics", "replicates": "replicates"}.get(
        axis, "processes"
    )
    for name in {"segments", "systems", "metrics", "replicates", "processes"} - {vary}:
        assert len({getattr(point, name) for point in found}) == 1, name


def test_the_axes_reach_as_far_as_they_should():
    reach = {axis: points(axis, quick=False) for axis in AXES}
    assert (reach["segments"][0].segments, reach["segments"][-1].segments) == (2000, 32_000)
    assert (reach["systems"][0].systems, reach["systems"][-1].systems) == (10, 160)
    assert (len(reach["metrics"][0].metrics), len(reach["metrics"][-1].metrics)) == (1, len(BY_COST))
    assert (reach["replicates"][0].replicates, reach["replicates"][-1].replicates) == (500, 8000)
    assert reach["workers"][0].processes == 1
    assert len(reach["workers"]) >= min(2, len(os.sched_getaffinity(0)))


def test_exponents_of_the_whole_and_of_the_last_step():
    measured = [(Point(n, str(n)), run(float(n))) for n in (1, 2, 4)]
    found, chart = exponents("systems", measured)
    assert found["cpu"] == pytest.approx(1)
    assert found["work"] == pytest.approx(2)
    assert found["peak"] == pytest.approx(0)
    assert found["wall"] < found["wall.last"] == found["wall.larger"] < 1
    assert chart.name == "growth-systems"
    rows = table("systems", measured, found).rows
    assert [row[0] for row in rows] == ["1", "2", "4", "**exponent**", "of the last step"]
    assert rows[3][1:] == [f"**{found['wall']:.2f}**", "**1.00**", "**2.00**", "**0.00**"]


def test_the_speed_up_is_that_of_two_workers():
    measured = [(Point(n, str(n), processes=n), run(8.0 / n)) for n in (1, 2, 4)]
    found, _ = workers(measured)
    assert found == {"speedup": 4.0, "wall": 9 / 5}
    assert table("workers", measured, found).rows[-1] == ["**speed-up**", "1.80×", "", "**4.00×**", ""]
    assert workers(measured[:1])[0] == {"speedup": 1.0, "wall": 1.0}
