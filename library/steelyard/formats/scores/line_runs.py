"""Runs out of lines that have one score each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.formats.scores.score_runs import BadScores, Lines, ScoredDocument, ScoreRun
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
    line: int


class _Found(NamedTuple):
    """What the lines of a document say by one metric of one system."""

    first: int
    """Its first line."""
    scores: list[float]
    ids: list[str]


def runs_of_lines(file: str, lines: Iterable[ScoreLine]) -> Iterator[ScoreRun]:
    """Runs of the lines of one system and metric; those of a document need not stand together.

    Parameters
    ----------
    file : str
        For messages.
    lines : iterable of ScoreLine

    Yields
    ------
    ScoreRun

    Raises
    ------
    BadScores
        Where some lines of a document name their segment and others do not.
    """
    runs: dict[tuple[str, str, str, str], dict[tuple[str, str], _Found]] = {}
    for pair, metric, system, document, domain, level, segment, score, line in lines:
        documents = runs.get((pair, metric, system, level))
        if documents is None:
            documents = runs[pair, metric, system, level] = {}
        found = documents.get((domain, document))
        if found is None:
            found = documents[domain, document] = _Found(line, [], [])
        found.scores.append(score)
        if segment:
            found.ids.append(segment)
    for (pair, metric, system, level), documents in runs.items():
        for first, scores, ids in documents.values():
            if ids and len(ids) != len(scores):
                raise BadScores(
                    f"{file}, line {first}: of {number_of(len(scores), 'score')} of {system} by {metric} {len(ids):,} "
                    "name their segment. Let all name it, or none."
                )
        where = Lines(file, [found.first for found in documents.values()])
        scored = tuple(
            ScoredDocument(domain, document, len(found.scores), tuple(found.ids) or None)
            for (domain, document), found in documents.items()
        )
        every = np.array([score for found in documents.values() for score in found.scores])
        yield ScoreRun(pair, metric, system, scored, every, where, level)
