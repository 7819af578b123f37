"""Scores of segments and systems from judgments: WMT's means of means.

Sums are exact (`math.fsum`), so no score depends on the order of the judgments.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.meta_evaluation.human.judgments import Judgment, SegmentScore, SystemScore

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def mean(values: Sequence[float]) -> float:
    """The sum, rounded once, over the number of values.

    Parameters
    ----------
    values : sequence of float
        At least one.

    Returns
    -------
    float
    """
    return math.fsum(values) / len(values)


def standardised(judgments: Sequence[Judgment]) -> list[float]:
    """Each judgment as the number of standard deviations that it lies above the mean of its annotator.

    The deviation is that of a sample, with n - 1. Annotators who gave only one judgment, or always the same value, do
    not say that anything is better than anything else; WMT22's make_rankings.py leaves them out, too.

    Parameters
    ----------
    judgments : sequence of Judgment

    Returns
    -------
    list of float
        In the order of the judgments; NaN for those of such annotators.
    """
    by_annotator: dict[str, list[float]] = {}
    for judgment in judgments:
        by_annotator.setdefault(judgment.annotator, []).append(judgment.value)
    centre, spread = {}, {}
    for annotator, values in by_annotator.items():
        centre[annotator] = mean(values)
        squares = math.fsum((value - centre[annotator]) * (value - centre[annotator]) for value in values)
        # Equal values may miss their own mean by a rounding error; squares of the smallest numbers are 0.
        varied = min(values) < max(values) and squares > 0
        spread[annotator] = math.sqrt(squares / (len(values) - 1)) if varied else math.nan
    return [(judgment.value - centre[judgment.annotator]) / spread[judgment.annotator] for judgment in judgments]


def penalties(errors: Sequence[Judgment]) -> list[Judgment]:
    """The sum of the weights of all errors that an annotator found in a segment.

    Parameters
    ----------
    errors : sequence of Judgment

    Returns
    -------
    list of Judgment
    """
    found: dict[tuple[str, str, int], list[float]] = {}
    for error in errors:
        found.setdefault((error.annotator, error.system, error.segment), []).append(error.value)
    return [Judgment(*cell, math.fsum(weights)) for cell, weights in found.items()]


def segment_scores(judgments: Sequence[Judgment], values: Sequence[float]) -> list[SegmentScore]:
    """The mean of the values of each segment's judgments.

    Parameters
    ----------
    judgments : sequence of Judgment
    values : sequence of float
        One for each judgment; NaN for those to leave out.

    Returns
    -------
    list of SegmentScore
        By system and segment, without segments that have no judgment; `raw` is the mean of what the annotators said.
    """
    cells: dict[tuple[str, int], tuple[list[float], list[float]]] = {}
    for judgment, value in zip(judgments, values, strict=True):
        if not math.isnan(value):
            scores, raws = cells.setdefault((judgment.system, judgment.segment), ([], []))
            scores.append(value)
            raws.append(judgment.value)
    return [SegmentScore(*cell, mean(scores), mean(raws), len(raws)) for cell, (scores, raws) in sorted(cells.items())]


def system_scores(segments: Iterable[SegmentScore]) -> list[SystemScore]:
    """The means of the scores of each system's segments.

    Parameters
    ----------
    segments : iterable of SegmentScore

    Returns
    -------
    list of SystemScore
        By name.
    """
    by_system: dict[str, list[SegmentScore]] = {}
    for segment in segments:
        by_system.setdefault(segment.system, []).append(segment)
    found = []
    for system, judged in sorted(by_system.items()):
        raws = [segment.raw for segment in judged if segment.raw is not None]
        counts = [segment.judgments for segment in judged if segment.judgments is not None]
        found.append(
            SystemScore(
                system,
                mean([segment.score for segment in judged]),
                mean(raws) if len(raws) == len(judged) else None,
                len(judged),
                sum(counts) if len(counts) == len(judged) else None,
            )
        )
    return found
