"""Boards from scores of segments: means, intervals, AutoRank, and ranks by any of these that say how sure they are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadParameter
from steelyard.fixed_point import on_grid
from steelyard.ranking.autorank import AUTORANK, NEWEST, VERSIONS, autorank
from steelyard.ranking.clusters import rank_systems
from steelyard.ranking.metric_lists import MetricList
from steelyard.resampling.bootstrap import drawn_segments, sums_of_tables
from steelyard.resampling.correction import corrected
from steelyard.resampling.documents import Documents, few_documents
from steelyard.resampling.draws_needed import enough_draws
from steelyard.resampling.interval import percentile_intervals
from steelyard.resampling.paired import TESTS, PairedResult, paired_bootstrap, paired_randomization
from steelyard.resampling.randomization import TRIALS
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steelyard.formats.scores.score_tables import MetricTable, PairScores
    from steelyard.ranking.clusters import SystemRank
    from steelyard.resampling.interval import Ends

    Floats = NDArray[np.float64]

SYSTEM_LEVEL = "system"


@dataclass(frozen=True)
class RankOptions:
    """How boards are made."""

    by: str = ""
    """A metric, or `autorank[:VERSION]`; where nothing is said the only metric, or AutoRank of several."""
    replicates: int = 1000
    """For intervals. Tests take more, as trials do, where the correction could else find nothing (`enough_draws`)."""
    seed: int = 12345
    level: float = 0.95
    test: str = "bootstrap"
    trials: int = TRIALS
    correction: str = "none"
    """For all pairs of systems of a board."""
    resample: str = "segment"
    """What replicates draw and tests exchange: "segment" or "document"."""


class MeanOfSegments:
    """The mean of what segments have, its sign changed unless `higher_is_better`: the best system has the most."""

    columns = ("score", "segments")

    def score(self, sums: Floats) -> Floats:
        """The means for summed statistics.

        Parameters
        ----------
        sums : ndarray of float64, shape (..., 2)

        Returns
        -------
        ndarray of float64, shape (...)
            NaN where no segment has a score.
        """
        counts = sums[..., 1]
        return np.where(counts > 0, sums[..., 0] / np.maximum(counts, 1.0), np.nan)


@dataclass(frozen=True, eq=False)
class SegmentScores:
    """What one metric says of all systems, as `steelyard.resampling` asks for it."""

    metric: MeanOfSegments
    scores: Floats
    """(systems,)."""
    replicate_scores: Floats
    """(systems, replicates); none for scores of systems alone."""
    statistics: Floats | None
    """(systems, segments, 2), or those of documents, where these are resampled."""
    counts: tuple[int, ...]
    """Of the segments of each system that have a score; 0 for scores of systems alone."""


@dataclass(frozen=True)
class BoardScore:
    """One system by one metric."""

    metric: str
    score: float
    interval: Ends | None
    n: int
    """Segments that have a score; 0 where only a score of the system is known."""


@dataclass(frozen=True)
class BoardSystem:
    """One line of a board."""

    system: str
    place: SystemRank | None
    """None where it has no score by what ranks."""
    autorank: float | None
    autorank_interval: Ends | None
    scores: tuple[BoardScore, ...]


@dataclass(frozen=True)
class ScoreBoard:
    """The systems of a language pair, best first; those that cannot be ranked behind them."""

    pair: str
    segments: int
    """0 where only scores of systems are known."""
    metrics: tuple[str, ...]
    by: str
    systems: tuple[BoardSystem, ...]
    tests: tuple[PairedResult, ...]
    """Of all pairs of systems, by what ranks; systems are numbers of `names`. Empty where nothing can be tested."""
    names: tuple[str, ...]
    notices: tuple[str, ...] = ()


def score_board(scores: PairScores, options: RankOptions, metrics: MetricList = MetricList()) -> ScoreBoard:  # noqa: B008 - frozen
    """The board of a pair.

    Parameters
    ----------
    scores : PairScores
    options : RankOptions
    metrics : MetricList
        Those that are shown and that AutoRank is made of; all where none are named.

    Returns
    -------
    ScoreBoard

    Raises
    ------
    BadScores
        For a metric that the pair does not have.
    BadParameter
        For an unknown test or version of AutoRank, and for a randomization test of AutoRank, which has no sums.
    """
    chosen = [scores.metric(name) for name in metrics.names] or list(scores.metrics)
    draws = enough_draws(options.replicates, _pairs(len(scores.systems)), options.correction, 1.0 - options.level)
    measured = [_measured(each, options, draws) for each in chosen]
    by, version = _ranked_by(options.by, [each.name for each in chosen])
    ranks, replicate_ranks = _autoranks(chosen, measured, version or NEWEST, metrics.weights or None)
    if version:
        ranking = SegmentScores(MeanOfSegments(), -ranks, -replicate_ranks, None, ())
    else:
        ranked_by = scores.metric(by)
        ranking = measured[chosen.index(ranked_by)] if ranked_by in chosen else _measured(ranked_by, options, draws)
    higher = bool(version) or scores.metric(by).higher_is_better
    tests = _tested(ranking, options, autorank_of=version)
    stood = rank_systems(ranking.scores.tolist(), _better(tests, len(ranks), higher, options), higher_is_better=higher)
    ends = percentile_intervals(replicate_ranks[:, : options.replicates], options.level)
    columns = [_column(table, each, options) for table, each in zip(chosen, measured, strict=True)]
    lines = [
        BoardSystem(
            name, stood[row], None if math.isnan(ranks[row]) else float(ranks[row]), ends[row],
            tuple(column[row] for column in columns),
        )
        for row, name in enumerate(scores.systems)
    ]  # fmt: skip
    lines.sort(key=lambda line: (line.place.rank if line.place else math.inf, line.system))
    return ScoreBoard(
        scores.pair,
        max((each.scores.shape[1] for each in chosen if each.level != SYSTEM_LEVEL), default=0),
        tuple(each.name for each in chosen),
        f"{AUTORANK}:{version}" if version else by,
        tuple(lines),
        tuple(tests),
        scores.systems,
        (
            *(notice for each in chosen for notice in each.notices),
            *_unranked(chosen, scores, ranking),
            *_few(chosen, options),
        ),
    )


def _few(tables: Sequence[MetricTable], options: RankOptions) -> list[str]:
    """A notice on too few documents, where these are resampled."""
    if options.resample == "segment":
        return []
    known = [_documents(each) for each in tables if each.level != SYSTEM_LEVEL]
    fewest = min(known, key=lambda each: each.count, default=None)
    return [warning] if fewest is not None and (warning := few_documents(fewest)) else []


def _ranked_by(by: str, metrics: Sequence[str]) -> tuple[str, str]:
    """A metric, or AutoRank's version."""
    if not by:
        return (metrics[0], "") if len(metrics) == 1 else (AUTORANK, NEWEST)
    name, _, version = by.partition(":")
    if name != AUTORANK or by in metrics:
        return by, ""
    if version and version not in VERSIONS:
        raise BadParameter(f'There is no AutoRank "{version}". Versions: {", ".join(VERSIONS)}.')
    return AUTORANK, version or NEWEST


def _pairs(systems: int) -> int:
    return systems * (systems - 1) // 2


def _measured(table: MetricTable, options: RankOptions, draws: int) -> SegmentScores:
    formula = MeanOfSegments()
    if table.level == SYSTEM_LEVEL:
        # A score of a system is taken as it stands.
        return SegmentScores(
            formula, table.scores[:, 0], np.zeros((len(table.scores), 0)), None, (0,) * len(table.scores)
        )
    defined = ~np.isnan(table.scores)
    statistics = np.stack([on_grid(np.where(defined, table.scores, 0.0)), defined.astype(np.float64)], axis=-1)
    if options.resample == "document":
        statistics = _documents(table).added_up(statistics)
    segments = statistics.shape[1]
    replicates = np.zeros((len(statistics), 0))
    if draws:
        drawn = drawn_segments(segments, options.seed, draws, 0, segments)
        (sums,) = sums_of_tables(drawn, [statistics])
        replicates = formula.score(sums)
    scores = formula.score(np.einsum("sik->sk", statistics))
    return SegmentScores(formula, scores, replicates, statistics, tuple(defined.sum(axis=1).tolist()))


def _documents(table: MetricTable) -> Documents:
    """The document of each unit. Raises BadParameter where none is named."""
    if not any(each.name for each in table.documents):
        raise BadParameter(f"{table.name}: its scores name no documents, so these cannot be resampled.")
    return Documents.from_names([each[:2] for each in table.documents for _ in range(each.size)])


def _autoranks(
    tables: Sequence[MetricTable], measured: Sequence[SegmentScores], version: str, weights: Sequence[float] | None
) -> tuple[Floats, Floats]:
    """(systems,) and (systems, replicates); no replicates where one of the metrics has none."""
    signs = [1.0 if each.higher_is_better else -1.0 for each in tables]
    ranks = autorank(
        np.stack([sign * each.scores for sign, each in zip(signs, measured, strict=True)]), version, weights
    )
    fewest = min(each.replicate_scores.shape[1] for each in measured)
    if not fewest:
        return ranks, np.zeros((len(ranks), 0))
    replicates = np.stack([sign * each.replicate_scores.T for sign, each in zip(signs, measured, strict=True)], axis=1)
    return ranks, autorank(replicates, version, weights).T


def _tested(ranking: SegmentScores, options: RankOptions, *, autorank_of: str) -> list[PairedResult]:
    if options.test not in TESTS:
        raise BadParameter(f'There is no test "{options.test}". Tests: {", ".join(TESTS)}.')
    if autorank_of and options.test == "randomization":
        raise BadParameter(
            "AutoRank is no sum over segments, so randomization cannot test it. Use the paired bootstrap."
        )
    if options.test == "randomization":
        if ranking.statistics is None:
            return []
        trials = enough_draws(options.trials, _pairs(len(ranking.scores)), options.correction, 1.0 - options.level)
        return paired_randomization(
            [ranking], None, trials=trials, seed=options.seed, correction=options.correction,
            level=options.level,
        )  # fmt: skip
    if not ranking.replicate_scores.shape[1]:
        return []
    correction = "none" if autorank_of else options.correction
    tests = paired_bootstrap([ranking], None, correction=correction, level=options.level)
    return _of_extremes(tests, ranking.replicate_scores.shape[1], options) if autorank_of else tests


def _of_extremes(tests: Sequence[PairedResult], replicates: int, options: RankOptions) -> list[PairedResult]:
    """With a p-value for the best against the worst, too, which are 1 and N in every replicate.

    The bootstrap gives none where all differences are one, for that is what a single segment looks like.
    """
    p = [
        1 / (replicates + 1) if math.isnan(each.p) and not math.isnan(each.difference) and each.interval else each.p
        for each in tests
    ]
    family = corrected(p, options.correction).tolist()
    return [replace(each, p=own, p_corrected=of_all) for each, own, of_all in zip(tests, p, family, strict=True)]


def _better(tests: Sequence[PairedResult], systems: int, higher: bool, options: RankOptions) -> NDArray[np.bool_]:
    better = np.zeros((systems, systems), bool)
    for each in tests:
        if each.p_corrected < 1.0 - options.level:
            gained = each.difference > 0 if higher else each.difference < 0
            better[(each.b, each.a) if gained else (each.a, each.b)] = True
    return better


def _column(table: MetricTable, measured: SegmentScores, options: RankOptions) -> list[BoardScore]:
    """All systems by one metric."""
    ends = percentile_intervals(measured.replicate_scores[:, : options.replicates], options.level)
    return [
        BoardScore(table.name, score, of_system, count)
        for score, of_system, count in zip(measured.scores.tolist(), ends, measured.counts, strict=True)
    ]


def _unranked(tables: Sequence[MetricTable], scores: PairScores, ranking: SegmentScores) -> list[str]:
    without = [name for name, score in zip(scores.systems, ranking.scores.tolist(), strict=True) if math.isnan(score)]
    notices = [f"{scores.pair}: not ranked, for scores are missing: {listed(without)}."] if without else []
    alone = [each.name for each in tables if each.level == SYSTEM_LEVEL]
    if alone:
        notices.append(f"{scores.pair}: scores of systems alone have no intervals and no tests: {listed(alone)}.")
    return notices
