"""The formulas of BLEU and chrF for many rows of sums at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SMOOTHING = ("none", "exp", "floor", "add-k")
"""As the kernel numbers them."""


class BleuScores(NamedTuple):
    """(...), (...) and (..., orders)."""

    scores: Floats
    penalties: Floats
    precisions: Floats
    """In percent, smoothed."""


def bleu_scores(sums: Floats, orders: Sequence[int], smoothing: str, value: float, *, effective: bool) -> BleuScores:
    """BLEU of sums (..., 2 + 2 * orders): `metrics/ngram/bleu.py` names the columns and says what the others mean.

    Parameters
    ----------
    sums : ndarray of float64
    orders : sequence of int
    smoothing : str
    value : float
    effective : bool

    Returns
    -------
    BleuScores
    """
    rows = _rows(sums)
    found = BleuScores(np.empty(len(rows)), np.empty(len(rows)), np.empty((len(rows), len(orders))))
    kernel("bleu_scores")(rows, np.array(orders, np.int64), SMOOTHING.index(smoothing), value, effective, *found)
    shape = np.shape(sums)[:-1]
    return BleuScores(*(each.reshape(shape + each.shape[1:]) for each in found))


def chrf_scores(sums: Floats, beta_squared: float, *, effective: bool = True) -> Floats:
    """ChrF of sums (..., 3 * orders): n-grams of hypothesis and reference and common ones, order by order.

    `effective`: orders count only where both sides have them; otherwise by epsilon smoothing.

    Parameters
    ----------
    sums : ndarray of float64
    beta_squared : float
    effective : bool, optional

    Returns
    -------
    ndarray of float64
    """
    rows = _rows(sums)
    scores = np.empty(len(rows))
    kernel("chrf_scores")(rows, beta_squared, effective, scores)
    return scores.reshape(np.shape(sums)[:-1])


def _rows(sums: Floats) -> Floats:
    """(rows, k)."""
    given = np.asarray(sums, np.float64, order="C")
    return given.reshape(math.prod(given.shape[:-1]), given.shape[-1])
