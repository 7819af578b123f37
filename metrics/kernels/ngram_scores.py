"""The formulas of BLEU and chrF for many rows of sums at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metrics.kernels.loader import INTEGER, POINTER, REAL, address, kernel

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
    """BLEU of sums (..., 2 + 2 * orders): `metrics.bleu` names the columns and says what the others mean."""
    given = np.asarray(sums, np.float64, order="C")
    shape = given.shape[:-1]
    found = BleuScores(np.empty(shape), np.empty(shape), np.empty((*shape, len(orders))))
    lengths = np.array(orders, np.int64)
    rows = found.scores.size
    function = kernel("bleu_scores", POINTER, INTEGER, INTEGER, POINTER, INTEGER, REAL, INTEGER, *[POINTER] * 3)
    function(
        address(given), rows, len(orders), address(lengths), SMOOTHING.index(smoothing), value, effective,
        *map(address, found),
    )  # fmt: skip
    return found


def chrf_scores(sums: Floats, beta_squared: float, *, effective: bool = True) -> Floats:
    """ChrF of sums (..., 3 * orders): n-grams of hypothesis and reference and common ones, order by order.

    `effective`: orders count only where both sides have them; otherwise by epsilon smoothing.
    """
    given = np.asarray(sums, np.float64, order="C")
    scores = np.empty(given.shape[:-1])
    function = kernel("chrf_scores", POINTER, INTEGER, INTEGER, REAL, INTEGER, POINTER)
    function(address(given), scores.size, given.shape[-1] // 3, beta_squared, effective, address(scores))
    return scores
