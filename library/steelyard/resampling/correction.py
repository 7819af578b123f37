"""Corrections for testing many hypotheses at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadParameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

CORRECTIONS = ("holm", "bh", "none")
"""Holm 1979 (no false difference at all), Benjamini and Hochberg 1995 (few of those found are false), none."""

TITLES = {"holm": "Holm", "bh": "Benjamini-Hochberg"}
"""As sentences call them."""


def corrected(p_values: Sequence[float] | NDArray[np.float64], method: str) -> NDArray[np.float64]:
    """The p-values of one family of tests, corrected for their number.

    Parameters
    ----------
    p_values : sequence of float, (tests,)
        NaN counts as no test.
    method : str
        One of `CORRECTIONS`.

    Returns
    -------
    ndarray of float64, shape (tests,)
        In the same order; NaN stays NaN.

    Raises
    ------
    BadParameter
        For an unknown method.
    """
    values = np.asarray(p_values, dtype=np.float64)
    if method not in CORRECTIONS:
        raise BadParameter(f'There is no correction "{method}". Corrections: {", ".join(CORRECTIONS)}.')
    result = values.copy()
    tested = np.flatnonzero(~np.isnan(values))
    if method == "none":
        return result
    order = tested[np.argsort(values[tested], kind="stable")]
    ascending, count = values[order], len(order)
    if method == "holm":
        result[order] = np.minimum(np.maximum.accumulate(ascending * np.arange(count, 0, -1)), 1.0)
    else:
        scaled = ascending * count / np.arange(1, count + 1)
        # p x m / m can be a last digit less than p.
        result[order] = np.maximum(np.minimum.accumulate(scaled[::-1])[::-1].clip(max=1.0), ascending)
    return result
