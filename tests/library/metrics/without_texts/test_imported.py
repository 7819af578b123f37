"""Scores that were made elsewhere, as sums: means of what is there, and systems' scores as they were given."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from steelyard.metrics.registry import parse_metric
from steelyard.metrics.without_texts.imported import Imported, plain_name, written_name

NAN = math.nan
GIVEN = [1 / 3, 99.99, -0.1, 1e6, 2.0**-30, 0.0, -123456.789]


@pytest.mark.parametrize(
    ("scores", "mean"), [([1.0, 2.0, 6.0], 3.0), ([1.0, NAN, 6.0], 3.5), ([NAN, NAN, 0.0], 0.0), ([NAN] * 3, NAN)]
)
@pytest.mark.parametrize("level", ["segment", "document"])
def test_what_has_no_score_is_not_in_the_mean(level, scores, mean):
    """Nor is it a score of nothing, where nothing has one."""
    metric = Imported(metric="X", level=level)
    sums = metric.statistics(np.array(scores), [4, 0, 2], 5).sum(axis=0)
    assert metric.score(sums) == pytest.approx(mean, nan_ok=True)
    several = metric.score(np.array([sums, np.zeros(2), 2 * sums]))
    assert several.tolist() == pytest.approx([mean, NAN, mean], nan_ok=True)


def test_each_score_stands_at_its_segment():
    found = Imported(metric="X").statistics(np.array([3.0, NAN, 5.0]), [4, 0, 2], 5)
    assert found.tolist() == [[0, 0], [0, 0], [5, 1], [0, 0], [3, 1]]


@pytest.mark.parametrize("score", GIVEN)
@pytest.mark.parametrize("segments", [1, 3])
def test_the_score_of_a_system_is_the_one_that_was_given(score, segments):
    """To the last bit, and only of the whole test set drawn as it is: no part and no replicate has one."""
    metric = Imported(metric="X", level="system", segments=segments)
    rows = metric.statistics(np.array([score]), [0], segments)
    assert metric.score(rows.sum(axis=0)) == score
    for drawn in (rows[1:], rows[:-1], np.concatenate([rows, rows]), np.concatenate([rows, rows[:1]])):
        assert math.isnan(metric.score(drawn.sum(axis=0)))
    # As many segments as the test set has, but one of them twice, or the first not at all.
    if segments > 1:
        for drawn in (rows[[0, 0, 1]], rows[[1, 1, 2]]):
            assert math.isnan(metric.score(drawn.sum(axis=0)))
    assert math.isnan(metric.score(metric.statistics(np.array([NAN]), [0], segments).sum(axis=0)))


def test_only_of_systems_it_is_said_how_many_segments_there_are():
    for level, said in (("segment", False), ("document", False), ("system", True)):
        metric = Imported(metric="X", level=level, segments=7)
        assert ("segments:7" in metric.signature(1)) == said
        assert parse_metric(metric.specification) == metric


@given(st.text())
@example("100%25; of %41;")
@example("%")
def test_every_name_can_be_written_and_is_read_back(name):
    written = written_name(name)
    assert plain_name(written) == name
    assert not set(written) & set(" \t\n\u00a0\u2003:|,=")


def test_titles_say_name_and_version():
    for version, title in (
        ("1", "COMET (wmt22): 50% (imported)"),
        ("2%20;beta", "COMET (wmt22): 50% 2 beta (imported)"),
    ):
        metric = Imported(metric=written_name("COMET (wmt22): 50%"), ver=version, better="lower")
        assert (metric.title, metric.higher_is_better) == (title, False)
        assert parse_metric(metric.specification) == metric
