"""Scores of metrics and people from files, as a correlation takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.formats.scores.reading import read_scores
from steelyard.formats.scores.score_runs import BadScores
from steelyard.meta_evaluation.judged_scores import JudgedMetric, JudgedScores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steelyard.formats.scores.score_tables import MetricTable, PairScores

    Floats = NDArray[np.float64]


class JudgedPair(NamedTuple):
    """The scores of one language pair."""

    judged: JudgedScores
    pair: str
    """As the files spell it; "" where they do not say."""
    title: str
    notices: tuple[str, ...]


def judged_pairs(
    scores: Sequence[str],
    human: Sequence[str],
    *,
    lower_is_better: Sequence[str] = (),
    metrics: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    pair: str | None = None,
    seed: int = 12345,
) -> list[JudgedPair]:
    """Read files of scores beside files of human scores, which are matched by system, document and segment.

    Parameters
    ----------
    scores, human : sequence of str
        Files and folders. The human ones have one metric, of which higher is better.
    lower_is_better : sequence of str
        Metrics of which a lower score is better, beside MetricX.
    metrics : sequence of str
        Only these; all by default.
    leave_out : sequence of str
        Systems that do not count.
    pair : str, optional
        Only this language pair.
    seed : int
        Of all draws.

    Returns
    -------
    list of JudgedPair
        Of the language pairs with human scores.

    Raises
    ------
    BadScores
        Where the files cannot be matched, or where what was asked for is not in them.
    BadText
        Where one cannot be read.
    """
    people = {each.name for found in read_scores(human) for each in found.metrics}
    if len(people) != 1:
        raise BadScores(f"--human: the files hold {len(people)} metrics ({', '.join(sorted(people))}). Give one.")
    (judge,) = people
    if any(each.name == judge for found in read_scores(scores) for each in found.metrics):
        raise BadScores(f"{judge} is both a metric of the scores and the human score. Give each file once.")
    together = read_scores([*scores, *human], lower_is_better=lower_is_better)
    found = [
        _judged(each, judge, metrics, leave_out, seed)
        for each in together
        if (pair is None or each.pair == pair) and any(table.name == judge for table in each.metrics)
    ]
    if not found:
        raise BadScores(f"There are no human scores of {pair}. Pairs: {', '.join(each.pair for each in together)}.")
    return found


def _judged(scores: PairScores, judge: str, metrics: Sequence[str], leave_out: Sequence[str], seed: int) -> JudgedPair:
    for name in leave_out:
        if name not in scores.systems:
            raise BadScores(f"There is no system {name} to leave out. There are: {', '.join(scores.systems)}.")
    tables = [scores.metric(name) for name in metrics] or [each for each in scores.metrics if each.name != judge]
    if not tables:
        raise BadScores(f"{scores.pair or 'The scores'}: there is no metric beside {judge}.")
    human = scores.metric(judge)
    judged = [
        place
        for place, name in enumerate(scores.systems)
        if name not in leave_out and not np.isnan(human.scores[place]).all()
    ]
    segments = max(each.scores.shape[1] for each in (human, *tables) if each.level == "segment" or each is human)
    if human.level != "segment":
        segments = max((each.scores.shape[1] for each in tables if each.level == "segment"), default=0)
    human_segments = _segments(human, judged, segments)
    return JudgedPair(
        JudgedScores(
            systems=tuple(scores.systems[place] for place in judged),
            metrics=[_metric(each, judged, segments) for each in tables],
            human_systems=_means(human.scores[judged]),
            human_segments=human_segments,
            human_raw=np.full_like(human_segments, np.nan),
            comparisons=np.zeros((0, 3), np.intp),
            seed=seed,
            replicates=0,
        ),
        scores.pair,
        f"{scores.pair + ', ' if scores.pair else ''}human scores {judge}",
        tuple(notice for each in (human, *tables) for notice in each.notices),
    )


def _metric(table: MetricTable, systems: Sequence[int], segments: int) -> JudgedMetric:
    sign = 1.0 if table.higher_is_better else -1.0
    return JudgedMetric(
        specification=table.name,
        title=table.name,
        higher_is_better=table.higher_is_better,
        systems=sign * _means(table.scores[systems]),
        replicates=np.zeros((0, len(systems))),
        segments=sign * _segments(table, systems, segments),
    )


def _means(scores: Floats) -> Floats:
    """The mean of each system's known scores; NaN without any."""
    known = ~np.isnan(scores)
    with np.errstate(invalid="ignore"):
        means: Floats = np.where(known, scores, 0.0).sum(axis=1) / known.sum(axis=1)
    return means


def _segments(table: MetricTable, systems: Sequence[int], segments: int) -> Floats:
    """Scores of segments, all NaN where the table has those of documents or systems."""
    return table.scores[systems] if table.level == "segment" else np.full((len(systems), segments), np.nan)
