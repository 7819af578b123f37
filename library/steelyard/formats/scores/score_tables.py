"""Tables of scores: all systems of a language pair by each metric, made of what files are read into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.formats.scores.score_runs import LEVELS, BadScores, check_run
from steelyard.formats.scores.unit_order import UnitOrder, order_of_units, with_shared_documents
from steelyard.text.findings import quoted
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from steelyard.formats.scores.score_runs import ScoredDocument, ScoreRun


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
    documents: tuple[ScoredDocument, ...] = ()
    """Which units there are, in their order; for the score of a system one of a single unit."""


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
    for run in with_shared_documents(runs):
        check_run(run)
        by_pair.setdefault(run.pair, {}).setdefault(run.metric, {}).setdefault(run.level, []).append(run)
    if not by_pair:
        raise BadScores("There are no scores in these files.")
    return [_pair(pair, metrics, lower_is_better) for pair, metrics in by_pair.items()]


def _pair(
    pair: str, metrics: Mapping[str, Mapping[str, Sequence[ScoreRun]]], lower_is_better: frozenset[str]
) -> PairScores:
    chosen = {
        name: next((level, levels[level]) for level in LEVELS if level in levels) for name, levels in metrics.items()
    }
    every = (run.system for levels in metrics.values() for runs in levels.values() for run in runs)
    systems = {name: row for row, name in enumerate(dict.fromkeys(every))}
    found = []
    order = order_of_units(run for _, runs in chosen.values() for run in runs)
    for name, (level, runs) in chosen.items():
        units = UnitOrder(runs, order)
        scores = _filled(runs, systems, units)
        notices = _missing(pair, name, level, list(systems), scores)
        found.append(MetricTable(name, level, scores, name not in lower_is_better, notices, units.documents()))
    return PairScores(pair, tuple(systems), tuple(found))


def _filled(runs: Sequence[ScoreRun], systems: Mapping[str, int], units: UnitOrder) -> NDArray[np.float64]:
    scores = np.full((len(systems), units.total), np.nan)
    taken = np.zeros(scores.shape, bool)
    for run in runs:
        places, twice = units.columns(run)
        row = systems[run.system]
        before = taken[row, places]
        if twice is not None or before.any():
            at = int(before.argmax()) if before.any() else twice or 0
            document, place = run.place_of(at)
            _, name, _, ids = run.documents[document]
            twice_of = [f"{run.level} {quoted(ids[place])}"] if ids and ids[place] else []
            twice_of += [f"document {quoted(name)}"] if name else []
            raise BadScores(
                f"{run.where.of(document)}: {run.system} has two scores by {run.metric} for "
                f"{' of '.join(twice_of) or 'its segments'}. Give one of them."
            )
        taken[row, places] = True
        scores[row, places] = run.scores
    return scores


def _missing(
    pair: str, metric: str, level: str, systems: Sequence[str], scores: NDArray[np.float64]
) -> tuple[str, ...]:
    missing = np.isnan(scores).sum(axis=1).tolist()
    title = f"{pair}, {metric}" if pair else metric
    none = [name for name, count in zip(systems, missing, strict=True) if count == scores.shape[1]]
    some = [f"{name} ({count:,})" for name, count in zip(systems, missing, strict=True) if 0 < count < scores.shape[1]]
    notices = []
    if none:
        notices.append(f"{title}: no scores of {listed(none)}.")
    if some:
        notices.append(f"{title}: of {scores.shape[1]:,} {level}s some have no score and are left out: {listed(some)}.")
    return tuple(notices)
