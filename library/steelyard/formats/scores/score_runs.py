"""What every file of scores is read into: runs of scores of one system by one metric, and tables made of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.errors import BadText
from steelyard.text.findings import quoted
from steelyard.text.names import printable
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

LEVELS = ("segment", "document", "system")
"""What a score is of, the finest first."""

LARGEST_SCORE = 1e6
LONGEST_NAME = 200


class BadScores(BadText):
    """The file does not hold scores of segments in a format that is known."""


class ScoreRun(NamedTuple):
    """Scores of one system by one metric in one document, in order; NaN where there is none."""

    pair: str
    """Languages, such as "en-cs_CZ"; empty where the file does not say."""
    metric: str
    system: str
    document: str
    domain: str
    scores: Sequence[float]
    ids: Sequence[str] | None = None
    """Of the segments; None where the file counts them by their order."""
    level: str = "segment"
    where: str = ""
    """File and line, for messages."""


@dataclass(frozen=True, eq=False)
class MetricTable:
    """The scores of all systems of a pair by one metric."""

    name: str
    level: str
    scores: NDArray[np.float64]
    """(systems, units): units are segments, documents, or the one score of a system; NaN where there is none."""
    higher_is_better: bool = True
    notices: tuple[str, ...] = ()
    """What is missing, a sentence each."""


@dataclass(frozen=True, eq=False)
class PairScores:
    """The scores of all systems of a language pair."""

    pair: str
    systems: tuple[str, ...]
    metrics: tuple[MetricTable, ...]

    def metric(self, name: str) -> MetricTable:
        """The table of a metric.

        Parameters
        ----------
        name : str

        Returns
        -------
        MetricTable

        Raises
        ------
        BadScores
            Where the pair has no metric of that name.
        """
        for each in self.metrics:
            if each.name == name:
                return each
        have = listed([each.name for each in self.metrics])
        raise BadScores(f"{self.pair or 'The scores'}: there is no metric {quoted(name)}. Metrics: {have}.")


@dataclass(slots=True)
class _Documents:
    """The documents that a metric knows of a pair, each with its segments: by position, or by their ids."""

    sizes: dict[tuple[str, str], int] = field(default_factory=dict)
    ids: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    first: dict[tuple[str, str], ScoreRun] = field(default_factory=dict)

    def learn(self, run: ScoreRun) -> None:
        key = run.domain, run.document
        first = self.first.setdefault(key, run)
        if (first.ids is None) != (run.ids is None):
            raise BadScores(f"{run.where}: numbers its segments, and {first.where} does not. Write both alike.")
        if run.ids is None:
            if self.sizes.setdefault(key, len(run.scores)) != len(run.scores):
                own = f"{number_of(len(run.scores), 'score')} " + (
                    f"of {quoted(run.document)} " if run.document else ""
                )
                raise BadScores(
                    f"{run.where}: {run.system} has {own}by {run.metric}, but "
                    f"{first.system} has {self.sizes[key]:,} by {first.metric} ({first.where}). All systems need "
                    "scores of the same segments; write null where one has none."
                )
            return
        known = self.ids.setdefault(key, {})
        for each in run.ids:
            known.setdefault(each, len(known))
        self.sizes[key] = len(known)

    def places(self) -> dict[tuple[str, str], int]:
        """Where each document begins among all segments."""
        begins, at = {}, 0
        for key, size in self.sizes.items():
            begins[key] = at
            at += size
        return begins

    @property
    def total(self) -> int:
        return sum(self.sizes.values())


def tables(runs: Iterable[ScoreRun], lower_is_better: frozenset[str] = frozenset()) -> list[PairScores]:
    """The tables of every pair, in the order in which pairs, systems and metrics come first.

    A metric of which several levels are given is taken at the finest.

    Parameters
    ----------
    runs : iterable of ScoreRun
    lower_is_better : set of str
        Metrics of which a lower score is better.

    Returns
    -------
    list of PairScores

    Raises
    ------
    BadScores
        Where systems have different segments, a segment has two scores, or a score is no finite number below 1e6.
    """
    by_pair: dict[str, dict[str, dict[str, list[ScoreRun]]]] = {}
    for run in runs:
        _check(run)
        by_pair.setdefault(run.pair, {}).setdefault(run.metric, {}).setdefault(run.level, []).append(run)
    if not by_pair:
        raise BadScores("There are no scores in these files.")
    return [_pair(pair, metrics, lower_is_better) for pair, metrics in by_pair.items()]


def _check(run: ScoreRun) -> None:
    for what, name in (("metric", run.metric), ("system", run.system)):
        if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
            raise BadScores(
                f"{run.where}: {quoted(name)} cannot be the name of a {what}: give 1 to {LONGEST_NAME} printable "
                "characters."
            )
    for number, score in enumerate(run.scores, 1):
        if abs(score) > LARGEST_SCORE:
            raise BadScores(
                f"{run.where}: score {number} of {run.system} is {score:g}, but must be at most {LARGEST_SCORE:g}."
            )


def _pair(
    pair: str, metrics: Mapping[str, Mapping[str, Sequence[ScoreRun]]], lower_is_better: frozenset[str]
) -> PairScores:
    chosen = {
        name: next((level, levels[level]) for level in LEVELS if level in levels) for name, levels in metrics.items()
    }
    every = (run.system for levels in metrics.values() for runs in levels.values() for run in runs)
    systems = {name: row for row, name in enumerate(dict.fromkeys(every))}
    found = []
    for name, (level, runs) in chosen.items():
        documents = _Documents()
        for run in runs:
            documents.learn(run)
        scores = _filled(runs, systems, documents)
        notices = _missing(pair, name, level, list(systems), scores)
        found.append(MetricTable(name, level, scores, name not in lower_is_better, notices))
    return PairScores(pair, tuple(systems), tuple(found))


def _filled(runs: Sequence[ScoreRun], systems: Mapping[str, int], documents: _Documents) -> NDArray[np.float64]:
    scores = np.full((len(systems), documents.total), np.nan)
    taken = np.zeros(scores.shape, bool)
    begins = documents.places()
    for run in runs:
        key = run.domain, run.document
        own = documents.ids.get(key)
        places = range(len(run.scores)) if run.ids is None or own is None else [own[each] for each in run.ids]
        columns = np.asarray(places, np.intp) + begins[key]
        row = systems[run.system]
        if taken[row, columns].any() or len(set(columns.tolist())) < len(columns):
            document = f"document {quoted(run.document)}" if run.document else "its segments"
            raise BadScores(
                f"{run.where}: {run.system} has two scores by {run.metric} for {document}. Give one of them."
            )
        taken[row, columns] = True
        scores[row, columns] = run.scores
    return scores


def _missing(
    pair: str, metric: str, level: str, systems: Sequence[str], scores: NDArray[np.float64]
) -> tuple[str, ...]:
    lacking = np.isnan(scores).sum(axis=1).tolist()
    title = f"{pair}, {metric}" if pair else metric
    none = [name for name, count in zip(systems, lacking, strict=True) if count == scores.shape[1]]
    some = [f"{name} ({count:,})" for name, count in zip(systems, lacking, strict=True) if 0 < count < scores.shape[1]]
    notices = []
    if none:
        notices.append(f"{title}: no scores of {listed(none)}.")
    if some:
        notices.append(f"{title}: of {scores.shape[1]:,} {level}s some have no score and are left out: {listed(some)}.")
    return tuple(notices)


def number(value: object, where: str) -> float:
    """A score as it stands in JSON: null and NaN are NaN.

    Parameters
    ----------
    value : object
    where : str
        File and line, for messages.

    Returns
    -------
    float

    Raises
    ------
    BadScores
        For what is no number.
    """
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadScores(f"{where}: {quoted(printable(str(value)[:50]))} is no number. Write scores as numbers or null.")
    try:
        return float(value)
    except OverflowError as error:
        raise BadScores(f"{where}: the score is too large. Give at most {LARGEST_SCORE:g}.") from error
