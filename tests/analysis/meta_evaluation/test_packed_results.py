"""Columns of metrics tasks as bytes: what comes out is what went in."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.meta_evaluation.metrics_task_parts import pack_result, unpack_result
from models.errors import BadBlob
from steelyard.meta_evaluation.metrics_task import TRIALS
from steelyard.meta_evaluation.task_results import Task, TaskResult


def result(metrics: int) -> TaskResult:
    pairs = metrics * (metrics - 1) // 2
    return TaskResult(
        Task("en-cs", "acc-eq", 5, 70),
        tuple("abcd"[:metrics]),
        np.arange(metrics, dtype=np.float64),
        -np.arange(pairs, dtype=np.float64),
        np.arange(pairs * TRIALS, dtype=np.float64).reshape(pairs, TRIALS),
    )


@pytest.mark.parametrize("metrics", range(5))
def test_there_and_back(metrics: int) -> None:
    given, titles = result(metrics), {"a": "Ä", "b": "B"}
    found, told = unpack_result(pack_result(given, titles))
    assert (found.task, found.metrics, told) == (given.task, given.metrics, titles)
    for name in ("values", "differences", "by_chance"):
        np.testing.assert_array_equal(getattr(found, name), getattr(given, name))
        assert getattr(found, name).dtype == np.float64


@pytest.mark.parametrize("cut", [0, 3, 20, -8, -1])
def test_what_is_damaged_is_refused(cut: int) -> None:
    with pytest.raises(BadBlob):
        unpack_result(pack_result(result(3), {})[:cut])
    with pytest.raises(BadBlob):
        unpack_result(pack_result(result(3), {}) + b"\0" * 8)
