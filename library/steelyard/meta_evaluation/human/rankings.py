"""WMT's relative rankings: several outputs of one segment put in order by one annotator, ties allowed.

A ranking of five systems says ten things about pairs of systems; scores of systems count those.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from steelyard.meta_evaluation.human.judgments import SegmentScore, SystemScore
from steelyard.meta_evaluation.human.scoring import mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard.meta_evaluation.human.judgments import Judgment

WINS = "wins"
BETTER_OR_EQUAL = "better-or-equal"
SYSTEM_SCORES = (WINS, BETTER_OR_EQUAL)
"""What the score of a system can be: the share of comparisons that it wins, ties left out (`> others` of WMT12,
Callison-Burch et al. 2012), or in which it is at least as good (`>= others`, WMT's score before)."""


class Ranking(NamedTuple):
    """Which ranking a judgment belongs to."""

    annotator: str
    segment: int
    label: str


@dataclass(slots=True)
class Comparisons:
    """How often systems were ranked above one another, and together."""

    above: dict[tuple[str, str], int] = field(default_factory=dict)
    """(better, worse) -> comparisons."""
    ties: dict[tuple[str, str], int] = field(default_factory=dict)
    """(a, b) -> comparisons; the same in both orders."""

    def of(self, system: str, other: str) -> tuple[int, int, int]:
        """How often a system was above another, equal to it, and below it.

        Parameters
        ----------
        system, other : str

        Returns
        -------
        above, equal, below : int
        """
        pair, turned = (system, other), (other, system)
        return self.above.get(pair, 0), self.ties.get(pair, 0), self.above.get(turned, 0)


def rankings(judgments: Iterable[Judgment]) -> dict[Ranking, list[Judgment]]:
    """The judgments of each ranking.

    Parameters
    ----------
    judgments : iterable of Judgment

    Returns
    -------
    dict of (str, int, str) to list of Judgment
        By annotator, segment and label.
    """
    found: dict[Ranking, list[Judgment]] = {}
    for judgment in judgments:
        found.setdefault(Ranking(judgment.annotator, judgment.segment, judgment.label), []).append(judgment)
    return found


def comparisons(judgments: Iterable[Judgment]) -> Comparisons:
    """All that rankings say about pairs of systems.

    Parameters
    ----------
    judgments : iterable of Judgment

    Returns
    -------
    Comparisons
    """
    found = Comparisons()
    for ranking in rankings(judgments).values():
        for first, second in combinations(ranking, 2):
            if first.value == second.value:
                for pair in ((first.system, second.system), (second.system, first.system)):
                    found.ties[pair] = found.ties.get(pair, 0) + 1
            else:
                better, worse = (first, second) if first.value < second.value else (second, first)
                pair = (better.system, worse.system)
                found.above[pair] = found.above.get(pair, 0) + 1
    return found


def ranked_segments(judgments: Sequence[Judgment]) -> list[SegmentScore]:
    """Each segment's mean rank in the rankings that it is in.

    Parameters
    ----------
    judgments : sequence of Judgment

    Returns
    -------
    list of SegmentScore
        The mean rank is `raw`; the score is that with its sign turned.
    """
    cells: dict[tuple[str, int], list[float]] = {}
    for judgment in judgments:
        cells.setdefault((judgment.system, judgment.segment), []).append(judgment.value)
    return [SegmentScore(*cell, -mean(ranks), mean(ranks), len(ranks)) for cell, ranks in sorted(cells.items())]


def ranked_systems(judgments: Sequence[Judgment], system_score: str = WINS) -> list[SystemScore]:
    """Each system's share of comparisons, over all other systems together.

    Parameters
    ----------
    judgments : sequence of Judgment
    system_score : str
        WINS or BETTER_OR_EQUAL.

    Returns
    -------
    list of SystemScore
        By name; `raw` is the mean rank over segments. A system that was never above or below another has no share of
        wins
        and is left out.
    """
    counted = comparisons(judgments)
    segments: dict[str, list[SegmentScore]] = {}
    for segment in ranked_segments(judgments):
        segments.setdefault(segment.system, []).append(segment)
    found = []
    for system, judged in sorted(segments.items()):
        counts = [counted.of(system, other) for other in segments if other != system]
        above, ties, below = (sum(count) for count in zip(*counts, strict=True)) if counts else (0, 0, 0)
        if system_score == BETTER_OR_EQUAL:
            score = (above + ties) / (above + ties + below) if above + ties + below else math.nan
        else:
            score = above / (above + below) if above + below else math.nan
        if not math.isnan(score):
            raw = mean([segment.raw for segment in judged if segment.raw is not None])
            found.append(SystemScore(system, score, raw, len(judged), sum(s.judgments or 0 for s in judged)))
    return found
