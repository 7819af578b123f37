"""How far annotators agree on which of two systems is better."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from steelyard.meta_evaluation.human.rankings import rankings
from steelyard.meta_evaluation.human.scoring import mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard.meta_evaluation.human.judgments import Judgment


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counted over all pairs of systems in one segment and all pairs of different annotators who compared them."""

    comparisons: int
    """How many such pairs of pairs there are."""
    share: float
    """Of them that say the same: better, worse or equal. NaN without comparisons."""
    by_chance: float
    """The share that chance alone gives, from how often ties were said."""

    @property
    def kappa(self) -> float:
        """(share - by_chance) / (1 - by_chance); NaN where chance says everything."""
        return (self.share - self.by_chance) / (1 - self.by_chance) if self.by_chance < 1 else float("nan")


def agreement(judgments: Sequence[Judgment], *, ranked: bool) -> Agreement:
    """How far annotators agree on which of two systems is better, by WMT's measure (Callison-Burch et al. 2011).

    It is kappa with P(E) = P(A>B)^2 + P(A=B)^2 + P(A<B)^2, where A and B have equal chances. Of ratings the mean of an
    annotator's ratings of a segment is compared.

    Parameters
    ----------
    judgments : sequence of Judgment
    ranked : bool
        Whether they are ranks, which are compared within their rankings.

    Returns
    -------
    Agreement
    """
    # What each annotator said how often about two systems in a segment: 1, 0 or -1.
    said: dict[tuple[int, str, str], Counter[tuple[str, int]]] = {}
    for annotator, segment, values in _compared(judgments, ranked):
        for first, second in combinations(sorted(values), 2):
            sign = (values[first] > values[second]) - (values[first] < values[second])
            said.setdefault((segment, first, second), Counter())[annotator, sign] += 1
    same = compared = ties = total = 0
    for counts in said.values():
        by_sign: Counter[int] = Counter()
        by_annotator: Counter[str] = Counter()
        for (annotator, sign), count in counts.items():
            by_sign[sign] += count
            by_annotator[annotator] += count
        same += _pairs(by_sign.values()) - _pairs(counts.values())
        compared += _pairs([sum(by_sign.values())]) - _pairs(by_annotator.values())
        ties += by_sign[0]
        total += sum(by_sign.values())
    if not compared:
        return Agreement(0, float("nan"), float("nan"))
    tie = ties / total
    return Agreement(compared, same / compared, tie * tie + (1 - tie) * (1 - tie) / 2)


def _pairs(sizes: Iterable[int]) -> int:
    """How many pairs there are within groups of these sizes."""
    return sum(size * (size - 1) // 2 for size in sizes)


def _compared(judgments: Sequence[Judgment], ranked: bool) -> list[tuple[str, int, dict[str, float]]]:
    """Annotator, segment and the values of the systems that were judged together."""
    if ranked:
        return [
            (ranking.annotator, ranking.segment, {judgment.system: judgment.value for judgment in of_ranking})
            for ranking, of_ranking in rankings(judgments).items()
        ]
    cells: dict[tuple[str, int], dict[str, list[float]]] = {}
    for judgment in judgments:
        of_cell = cells.setdefault((judgment.annotator, judgment.segment), {})
        of_cell.setdefault(judgment.system, []).append(judgment.value)
    return [
        (annotator, segment, {system: mean(values) for system, values in of_cell.items()})
        for (annotator, segment), of_cell in cells.items()
    ]
