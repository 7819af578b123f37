"""Tests of pairs of systems by AutoRank."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from analysis.leaderboard.significance import ALPHA
from campaigns.leaderboards.significance_cache import PairTests
from steelyard.ranking.autorank import with_extremes
from steelyard.resampling.paired import bootstrap_p_of_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def tested_autoranks(scores: Sequence[float], replicates: Sequence[Floats]) -> PairTests:
    """Return the tests of all pairs of systems by AutoRank, from its replicates."""
    pairs = list(combinations(range(len(scores)), 2))
    drawn = np.stack(replicates)
    p_values = bootstrap_p_of_pairs(np.array(scores, dtype=np.float64), drawn, pairs)
    p_values = with_extremes(p_values, not np.isnan(drawn).any(), drawn.shape[1])
    different = np.zeros((len(scores), len(scores)), bool)
    for (a, b), p in zip(pairs, p_values, strict=True):
        different[a, b] = different[b, a] = p < ALPHA
    return PairTests(different, 0, int(np.isnan(p_values).sum()))
