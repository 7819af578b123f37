"""The formulas of BLEU and chrF against themselves in Python, number by number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.kernels.ngram.ngram_scores import SMOOTHING, bleu_scores, chrf_scores
from steelyard.numerics import deterministic


def log(value):
    """Correctly rounded, as in the kernel: the C library's is not always."""
    return float(deterministic.log(np.array([value]))[0])


def exp(value):
    return float(deterministic.exp(np.array([value]))[0])


def slow_precision(match, total, n, smoothing, value, halvings):
    if smoothing == "add-k" and n > 1:
        match, total = match + value, total + value
    if match:
        return 100.0 * match / total
    return {"exp": 100.0 / (halvings * total), "floor": 100.0 * value / total}.get(smoothing, 0.0)


def slow_bleu(sums, orders, smoothing, value, effective):
    hypothesis, reference, *counts = sums
    matches, totals = counts[: len(orders)], counts[len(orders) :]
    if not hypothesis or not any(matches):
        return 0.0
    logs, halvings = [], 1.0
    for match, total, n in zip(matches, totals, orders, strict=True):
        if not total + (value if smoothing == "add-k" and n > 1 else 0.0):
            break
        halvings *= 2.0 if not match else 1.0
        precision = slow_precision(match, total, n, smoothing, value, halvings)
        if not precision:
            return 0.0
        logs.append(log(precision))
    if not effective and len(logs) < len(orders):
        return 0.0
    mean = 0.0
    for each in logs:
        mean += each
    penalty = exp(1.0 - reference / hypothesis) if hypothesis < reference else 1.0
    return penalty * exp(mean / max(len(logs), 1))


@given(
    st.permutations([1, 2, 3, 4, 5]),
    st.integers(1, 5),
    st.sampled_from(SMOOTHING),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.booleans(),
    st.data(),
)
def test_bleu(orders, length, smoothing, value, effective, data):
    orders = orders[:length]
    largest = data.draw(st.sampled_from([1, 5, 10**6]))
    rows = []
    for _ in range(6):
        totals = [data.draw(st.integers(0, largest)) for _ in orders]
        matches = [data.draw(st.integers(0, total)) * data.draw(st.sampled_from([1, 0.5])) for total in totals]
        rows.append([data.draw(st.integers(0, largest)), data.draw(st.integers(0, largest)), *matches, *totals])
    sums = np.array(rows, np.float64)
    found = bleu_scores(sums, orders, smoothing, value, effective=effective)
    assert found.scores.tolist() == [slow_bleu(row, orders, smoothing, value, effective) for row in rows]
    several = bleu_scores(sums.reshape(2, 3, -1)[:, ::-1], orders, smoothing, value, effective=effective)
    assert several.scores.tolist() == found.scores.reshape(2, 3)[:, ::-1].tolist()
    assert several.precisions.shape == (2, 3, length)
    assert several.penalties.shape == (2, 3)


def slow_chrf(sums, weight):
    precision, recall, orders = 0.0, 0.0, 0
    for hypothesis, reference, match in zip(sums[::3], sums[1::3], sums[2::3], strict=True):
        if hypothesis and reference:
            precision += match / hypothesis
            recall += match / reference
            orders += 1
    precision, recall = precision / max(orders, 1), recall / max(orders, 1)
    if not precision + recall:
        return 0.0
    return 100.0 * ((1.0 + weight) * precision * recall / (weight * precision + recall))


@given(st.integers(1, 8), st.sampled_from([0.0, 1.0, 4.0, 10.89, 1e6]), st.data())
def test_chrf(orders, weight, data):
    largest = data.draw(st.sampled_from([1, 5, 10**6]))
    rows = []
    for _ in range(6):
        sides = [(data.draw(st.integers(0, largest)), data.draw(st.integers(0, largest))) for _ in range(orders)]
        rows.append([x for one, other in sides for x in (one, other, data.draw(st.integers(0, min(one, other))))])
    sums = np.array(rows, np.float64)
    assert chrf_scores(sums, weight).tolist() == [slow_chrf(row, weight) for row in rows]
    assert chrf_scores(sums.reshape(3, 2, -1).transpose(1, 0, 2), weight).shape == (2, 3)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
def test_shapes(shape):
    found = bleu_scores(np.ones((*shape, 6)), (1, 2), "exp", 0.0, effective=False)
    assert found.scores.shape == found.penalties.shape == shape
    assert found.precisions.shape == (*shape, 2)
    assert chrf_scores(np.ones((*shape, 6)), 4.0).shape == shape
