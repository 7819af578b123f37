"""Against the best of several: a test that knows that the best was chosen for its score.

The best of many outputs that are equally good has been lucky on these segments, so that a paired test against it alone
finds too many that are worse. Here the largest of all differences is compared with the largest that chance makes, over
the same replicates (White 2000, "A reality check for data snooping").
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.resampling.bootstrap_p import bootstrap_p

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def bootstrap_best_p(losses: Floats, replicate_losses: Floats) -> float:
    """The two-sided p-value of the largest of several losses against as many candidates; of one, `bootstrap_p`.

    Candidates with an undefined replicate are left out, unless it is the best.

    Parameters
    ----------
    losses : ndarray of float64, shape (candidates,)
        How much better each candidate is.
    replicate_losses : ndarray of float64, shape (candidates, B)

    Returns
    -------
    float
        Where no candidate is better, the p-value against the best alone; NaN where that is.
    """
    best = int(np.argmax(losses))
    largest = float(losses[best])
    alone = bootstrap_p(largest, replicate_losses[best])
    if len(losses) == 1 or math.isnan(alone) or largest <= 0:
        return alone
    known = replicate_losses[~np.isnan(replicate_losses).any(axis=1)]
    count: int = known.shape[1]
    # fsum: the last digit of NumPy's mean depends on the processor.
    means = np.array([math.fsum(row.tolist()) / count for row in known])
    by_chance = (known - means[:, np.newaxis]).max(axis=0)
    one_sided = (int((by_chance >= largest).sum()) + 1) / (count + 1)
    # Few candidates that are much alike: never more is found than against the best alone.
    return max(alone, min(1.0, 2 * one_sided))
