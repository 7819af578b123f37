"""Rules that rank systems from direct assessments of people, WMT's and our own, over arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadParameter
from steelyard.numerics.deterministic import total
from steelyard.numerics.distributions import normal_quantile, normal_sf, wilcoxon_p
from steelyard.ranking.clusters import rank_systems
from steelyard.ranking.human_randomization import randomization_p_of_pairs
from steelyard.resampling.randomization import TRIALS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ALPHA = 0.05
MACRO, MICRO = AVERAGES = ("macro", "micro")
"""The mean over domains of their means, and the mean over all judgments."""


OWN = "randomization"
"""The name of our own rule."""


@dataclass(frozen=True)
class Trials:
    """How our own rule tests."""

    trials: int = TRIALS
    seed: int = 12345
    correction: str = "none"
    """One of `CORRECTIONS`, for all pairs."""
    level: float = 0.95
    """Two systems differ where p is below 1 minus this."""


@dataclass(frozen=True)
class RankedSystem:
    """The rank of a system by a rule."""

    system: int
    """Its row."""
    score: float
    n: int
    """Judgments that its score is made of."""
    rank_low: int
    rank_high: int
    wins: int
    losses: int
    cluster: int
    """From 1, the best."""


@dataclass(frozen=True, eq=False)
class HumanRanking:
    """The systems that were judged, best first."""

    ranks: tuple[RankedSystem, ...]
    p: Floats
    """(systems, systems), NaN on the diagonal and for systems that were not judged."""


def rank_by_humans(
    scores: Floats,
    domains: Sequence[str] | None = None,
    *,
    rule: str = "wmt25",
    average: str = MACRO,
    documents: Sequence[int] | None = None,
    adjusted: Floats | None = None,
    trials: Trials | None = None,
) -> HumanRanking:
    """The ranking of systems by one of `ALL_RULES`.

    Parameters
    ----------
    scores : ndarray of float64, shape (systems, places)
        Judgments from 0 to 100; a place is one judgment of a segment, NaN where a system has none there.
    domains : sequence of str, optional
        The domain of each place; without it all are of one.
    rule : str
    average : str
        One of `AVERAGES`, for WMT24's rule and our own.
    documents : sequence of int, optional
        The document of each place, from 0, for our own rule; without it each place is one of its own.
    adjusted : ndarray of float64, shape (systems, places), optional
        What our own rule tests instead of `scores`: these less what the annotators have to do with them.
    trials : Trials, optional
        For our own rule.

    Returns
    -------
    HumanRanking

    Raises
    ------
    BadParameter
        For another rule or average, and where no system was judged.
    """
    if rule not in ALL_RULES:
        raise BadParameter(f'There is no rule "{rule}" for human rankings. Rules: {", ".join(ALL_RULES)}.')
    if average not in AVERAGES:
        raise BadParameter(f'There is no average "{average}". Averages: {", ".join(AVERAGES)}.')
    if not (~np.isnan(scores)).any():
        raise BadParameter("No system was judged.")
    places = np.array(domains if domains is not None else [""] * scores.shape[1])
    if rule == OWN:
        known = np.arange(scores.shape[1]) if documents is None else np.array(documents, np.intp)
        return _own(scores, scores if adjusted is None else adjusted, places, known, average, trials or Trials())
    return RULES[rule](scores, places, average)


def _own(
    scores: Floats,
    tested: Floats,
    domains: NDArray[np.str_],
    documents: NDArray[np.intp],
    average: str,
    trials: Trials,
) -> HumanRanking:
    """Means over domains, tested by randomization; ranks, ranges and clusters by `rank_systems`.

    A system wins where both its score and what is tested say so.
    """
    parts = _parts(domains, average)
    values = np.array([_macro(row, parts) for row in scores])
    p, differences = randomization_p_of_pairs(
        tested, parts, documents, trials=trials.trials, seed=trials.seed, correction=trials.correction
    )
    better = (p < 1.0 - trials.level) & (differences > 0) & (values[:, None] > values[None, :])
    ranges, clusters = {}, {}
    for row, rank in enumerate(rank_systems(values.tolist(), better)):
        if rank is not None:
            ranges[row], clusters[row] = (rank.low, rank.high), rank.cluster
    order = _order(values)
    ends = [place for place, (row, after) in enumerate(pairwise(order), 1) if clusters[row] != clusters[after]]
    return HumanRanking(_ranks(scores, values, order, ranges, better, ends), p)


def _wmt24(scores: Floats, domains: NDArray[np.str_], average: str) -> HumanRanking:
    """WMT24: Wilcoxon's test in each domain, put together by Stouffer's method whatever their directions.

    Systems are ordered by the mean over domains; the better one of two that differ has won. A cluster ends where all
    above differ from all below. Two domains with opposite differences add up to a difference.
    """
    parts = _parts(domains, average)
    values = np.array([_macro(row, parts) for row in scores])
    test = (lambda differences: wilcoxon_p(differences[0])) if average == MICRO else _stouffer
    p = _tested(scores, lambda a, b: test([_paired(scores[a, part], scores[b, part]) for part in parts]))
    order = _order(values)
    better = (p < ALPHA) & (values[:, None] > values[None, :])
    wins, losses = better.sum(axis=1), better.sum(axis=0)
    apart = p <= ALPHA
    ends = [
        position for position in range(1, len(order) + 1) if apart[np.ix_(order[:position], order[position:])].all()
    ]
    ranges = {row: (int(losses[row]) + 1, len(order) - int(wins[row])) for row in order}
    return HumanRanking(_ranks(scores, values, order, ranges, better, ends), p)


def _wmt25(scores: Floats, _domains: NDArray[np.str_], _average: str) -> HumanRanking:
    """WMT25: one-sided Wilcoxon tests on all places that both have, ranges up to the nearest neighbour that differs."""
    values = np.array([_macro(row, [np.ones(len(row), bool)]) for row in scores])
    p = _tested(scores, lambda a, b: wilcoxon_p(_paired(scores[a], scores[b]), two_sided=False), both=True)
    order = _order(values)
    better = p < ALPHA
    ranges = {}
    for place, row in enumerate(order):
        low = next((above + 2 for above in range(place - 1, -1, -1) if better[order[above], row]), 1)
        high = next((below for below in range(place + 1, len(order)) if better[row, order[below]]), len(order))
        ranges[row] = (low, high)
    lows, highs = ([ranges[row][end] for row in order] for end in (0, 1))
    ends = [
        position
        for position in range(1, len(order) + 1)
        if max(highs[:position]) <= position and min(lows[position:], default=position + 1) > position
    ]
    return HumanRanking(_ranks(scores, values, order, ranges, better, ends), p)


RULES: dict[str, Callable[[Floats, NDArray[np.str_], str], HumanRanking]] = {"wmt24": _wmt24, "wmt25": _wmt25}
"""WMT's."""
ALL_RULES = (OWN, *RULES)


def _parts(domains: NDArray[np.str_], average: str) -> list[NDArray[np.bool_]]:
    """The places of each domain, or all of them."""
    if average == MICRO:
        return [np.ones(len(domains), bool)]
    return [domains == each for each in sorted(set(domains.tolist()))]


def _macro(row: Floats, parts: Sequence[NDArray[np.bool_]]) -> float:
    """The mean of the means of parts that were judged; NaN where none was."""
    means = [float(total(judged)) / len(judged) for part in parts if len(judged := row[part][~np.isnan(row[part])])]
    return math.fsum(means) / len(means) if means else math.nan


def _paired(first: Floats, second: Floats) -> Floats:
    both: Floats = first - second
    return both[~np.isnan(both)]


def _stouffer(domains: Sequence[Floats]) -> float:
    """From two-sided p-values of domains, each of which weighs the same."""
    z = [normal_quantile(1.0 - wilcoxon_p(differences)) for differences in domains if len(differences)]
    if not z:
        return 1.0
    # A domain that shows no difference at all outweighs every other.
    return 1.0 if -math.inf in z else normal_sf(math.fsum(z) / math.sqrt(len(z)))


def _tested(scores: Floats, test: Callable[[int, int], float], *, both: bool = False) -> Floats:
    p = np.full((len(scores), len(scores)), np.nan)
    judged = np.flatnonzero((~np.isnan(scores)).any(axis=1)).tolist()
    for place, a in enumerate(judged):
        for b in judged[place + 1 :]:
            p[a, b] = test(a, b)
            p[b, a] = test(b, a) if both else p[a, b]
    return p


def _order(values: Floats) -> list[int]:
    return sorted(np.flatnonzero(~np.isnan(values)).tolist(), key=lambda row: -values[row])


def _ranks(
    scores: Floats,
    values: Floats,
    order: Sequence[int],
    ranges: dict[int, tuple[int, int]],
    better: NDArray[np.bool_],
    ends: Sequence[int],
) -> tuple[RankedSystem, ...]:
    return tuple(
        RankedSystem(
            row, float(values[row]), int((~np.isnan(scores[row])).sum()), *ranges[row],
            int(better[row].sum()), int(better[:, row].sum()), 1 + sum(end < position for end in ends),
        )
        for position, row in enumerate(order, 1)
    )  # fmt: skip
