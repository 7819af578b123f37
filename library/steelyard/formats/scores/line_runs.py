"""Runs out of lines that have one score each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from steelyard.formats.scores.score_runs import BadScores, ScoreRun
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class ScoreLine(NamedTuple):
    """One score, as a line has it."""

    pair: str
    metric: str
    system: str
    document: str
    domain: str
    level: str
    segment: str
    """Its id; empty where the order of lines counts."""
    score: float
    where: str


def runs_of_lines(lines: Iterable[ScoreLine]) -> Iterator[ScoreRun]:
    """Runs of the lines of one system, metric and document, which need not stand together.

    Parameters
    ----------
    lines : iterable of ScoreLine

    Yields
    ------
    ScoreRun

    Raises
    ------
    BadScores
        Where some lines of a run name their segment and others do not.
    """
    found: dict[tuple[str, ...], tuple[list[float], list[str], ScoreLine]] = {}
    for line in lines:
        scores, ids, _ = found.setdefault(line[:6], ([], [], line))
        scores.append(line.score)
        if line.segment:
            ids.append(line.segment)
    for scores, ids, first in found.values():
        if ids and len(ids) != len(scores):
            raise BadScores(
                f"{first.where}: of {number_of(len(scores), 'score')} of {first.system} by {first.metric} "
                f"{len(ids):,} name their segment. Let all name it, or none."
            )
        yield ScoreRun(*first[:5], scores=scores, ids=ids or None, level=first.level, where=first.where)
