"""Steelyard's own rule for human rankings: paired randomization on the mean over domains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadParameter
from steelyard.fixed_point import GRID, on_grid
from steelyard.resampling.bootstrap import replicate_sums
from steelyard.resampling.correction import corrected
from steelyard.resampling.randomization import randomization_p, sign_flips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PAIRS_AT_ONCE = 128
"""Pairs whose trials are summed at a time: those of all would take much memory."""


def randomization_p_of_pairs(
    scores: Floats,
    domains: Sequence[NDArray[np.bool_]],
    documents: NDArray[np.intp],
    *,
    trials: int,
    seed: int,
    correction: str,
) -> tuple[Floats, Floats]:
    """Stratified, paired randomization tests of the difference in the mean over domains.

    A pair is tested on the places that both have. If the systems are equally good, their scores of a document might as
    well be each other's: a trial exchanges them or not, and p is the share of trials whose difference is as large as
    the real one (Noreen 1989). Whole documents are exchanged, for one annotator judges a system's document from
    beginning to end, so that its scores go together. Domains that pull in opposite directions cancel out, as they do
    in the score.

    Parameters
    ----------
    scores : ndarray of float64, shape (systems, places)
        NaN where a system was not judged.
    domains : sequence of ndarray of bool, shape (places,)
        The places of each domain; every domain weighs the same.
    documents : ndarray of intp, shape (places,)
        The document of each place, from 0; documents of different waves are different ones.
    trials : int
    seed : int
    correction : str
        One of `CORRECTIONS`, for all pairs.

    Returns
    -------
    p : ndarray of float64, shape (systems, systems)
        Two-sided and corrected; NaN on the diagonal and for pairs without a place in common.
    differences : ndarray of float64, shape (systems, systems)
        Of row minus column; NaN where p is.

    Raises
    ------
    BadParameter
        Without trials.
    """
    if trials < 1:
        raise BadParameter("A randomization test needs at least one trial.")
    pairs = [(a, b) for a in range(len(scores)) for b in range(a + 1, len(scores))]
    shape = (len(scores), len(scores))
    found, differences = np.full(shape, np.nan), np.full(shape, np.nan)
    count = int(documents.max(initial=-1)) + 1
    flips = sign_flips(count, seed, 0, trials)
    raw = np.full(len(pairs), np.nan)
    for begin in range(0, len(pairs), PAIRS_AT_ONCE):
        some = pairs[begin : begin + PAIRS_AT_ONCE]
        weighted = np.zeros((count, len(some)))
        for column, (a, b) in enumerate(some):
            np.add.at(weighted[:, column], documents, _weighted(scores[a] - scores[b], domains))
        total = weighted.sum(axis=0)
        exchanged = np.abs(total - 2.0 * replicate_sums(flips, weighted))
        # Each term is rounded to the grid once: sums that are equal without that may differ by so much.
        slack = scores.shape[1] / GRID
        as_large = (exchanged >= np.abs(total) - slack).sum(axis=0)
        for number, (a, b) in enumerate(some):
            if (~np.isnan(scores[a] - scores[b])).any():
                raw[begin + number] = randomization_p(int(as_large[number]), trials)
                differences[a, b], differences[b, a] = total[number], -total[number]
    for (a, b), p in zip(pairs, corrected(raw.tolist(), correction).tolist(), strict=True):
        found[a, b] = found[b, a] = p
    return found, differences


def _weighted(differences: Floats, domains: Sequence[NDArray[np.bool_]]) -> Floats:
    """What each place adds to the difference of the means over domains, on the grid; 0 where one system has none."""
    both = ~np.isnan(differences)
    shared = [domain & both for domain in domains if (domain & both).any()]
    weights = np.zeros(len(differences))
    for domain in shared:
        weights[domain] = 1.0 / (len(shared) * int(domain.sum()))
    return on_grid(np.where(both, differences, 0.0) * weights)
