"""The metrics of a leaderboard joined with human scores of the same systems."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from sqlalchemy import select

from analysis.meta_evaluation.human import read_human
from models.results.boards import documents_of_board
from models.results.statistics import read_statistics
from models.schema.corpus import Protocol
from models.schema.states import JudgmentKind
from steelyard.errors import MetricsError
from steelyard.meta_evaluation.correlation import CorrelationTable
from steelyard.meta_evaluation.human.rankings import rankings
from steelyard.meta_evaluation.judged_scores import JudgedMetric, JudgedScores
from steelyard.metrics.registry import parse_metric
from steelyard.resampling.runs import mean_over_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from analysis.leaderboard.board import Board
    from analysis.meta_evaluation.human import HumanScores, Matched
    from models.results.leaderboard import LeaderboardRow

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgedBoard(JudgedScores):
    """A leaderboard's metrics and human scores of its systems: those that are scored and judged, in its order."""

    board: Board
    human: HumanScores
    matched: Matched
    """The match of all judged names with the board's systems."""
    unscored: tuple[str, ...]
    """Judged, but not scored (yet)."""


BoardCorrelation: TypeAlias = CorrelationTable[JudgedBoard]
"""The correlations of a leaderboard's metrics."""


def _comparisons(human: HumanScores, systems: Sequence[str]) -> NDArray[np.intp]:
    """For rankings, every pair that an annotator ordered, (n, 3): segment, better system and worse system."""
    place = {system: number for number, system in enumerate(systems)}
    found = []
    for of_one in rankings(human.judgments).values():
        ranked = [judgment for judgment in of_one if judgment.system in place]
        found += [
            (better.segment, place[better.system], place[worse.system])
            for better, worse in permutations(ranked, 2)
            if better.value < worse.value
        ]
    return np.array(sorted(found), np.intp).reshape(-1, 3)


def read_judged(
    connection: Connection, board: Board, human: str | None = None, metrics: Sequence[int] | None = None
) -> JudgedBoard:
    """A board with human judgments of its test set: `NAME`, `NAME@VERSION`, or the only ones that there are.

    `metrics` are positions in the board's list, by default all. Systems are matched by name (`TEAM/NAME` where several
    teams have one of that name); human translations are left out, because a metric would compare a reference with
    itself.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    test_set = connection.scalar(select(Protocol.test_set_id).where(Protocol.id == board.listed.protocol_id))
    scores = read_human(connection, board.listed.campaign_id, test_set or 0, human)
    rows = {name: row for name, row in _named(board).items() if not scores.is_reference(name)}
    matched = scores.matched(rows)
    matched = replace(matched, unknown=tuple(name for name in matched.unknown if name not in _called(board.without)))
    done = {name: row for name, row in rows.items() if row.scores}
    systems = tuple(name for name in done if name in matched.systems)
    chosen = range(len(board.listed.metrics)) if metrics is None else metrics
    unknown = np.full(scores.n_segments, np.nan)
    segments, raw = (
        np.array([scores_of.get(name, unknown) for name in systems]).reshape(len(systems), scores.n_segments)
        for scores_of in (scores.segments, scores.raw_segments)
    )
    return JudgedBoard(
        board=board,
        human=scores,
        systems=systems,
        matched=matched,
        unscored=tuple(name for name in matched.systems if name not in done),
        metrics=[_judged(connection, [done[name] for name in systems], metric) for metric in chosen if systems],
        human_systems=np.array([scores.systems.get(name, np.nan) for name in systems]),
        human_segments=segments,
        human_raw=raw if _is_percentage(scores.kind, raw) else np.full(raw.shape, np.nan),
        comparisons=_comparisons(scores, systems),
        seed=board.listed.seed,
        replicates=board.listed.replicates,
        documents=documents_of_board(connection, board.listed),
    )


def _named(board: Board) -> dict[str, LeaderboardRow]:
    """The rows by their names in judgments; of several submissions of a system the ranked one."""
    rows: dict[tuple[str, str], LeaderboardRow] = {}
    for row in sorted(board.rows, key=lambda row: (row.ranked, row.submissions)):
        rows[row.team, row.system] = row
    names = Counter(row.system for row in rows.values())
    chosen = [row for row in board.rows if rows[row.team, row.system] is row]
    return {row.system if names[row.system] == 1 else board.name(row): row for row in chosen}


def _called(without: Sequence[str]) -> set[str]:
    """The names, with and without teams, of systems that were left out."""
    return {*without, *(name.rpartition("/")[2] for name in without)}


def _is_percentage(kind: JudgmentKind, raw: Floats) -> bool:
    if kind not in (JudgmentKind.RATINGS, JudgmentKind.SCORES) or np.isnan(raw).all():
        return False
    return bool(np.nanmin(raw) >= 0 and 10 < np.nanmax(raw) <= 100)


def _judged(connection: Connection, rows: Sequence[LeaderboardRow], metric: int) -> JudgedMetric:
    first = rows[0].scores[metric]
    sign = 1.0 if first.higher_is_better else -1.0
    scores = [row.scores[metric].score for row in rows]
    return JudgedMetric(
        specification=first.specification,
        title=first.title,
        higher_is_better=first.higher_is_better,
        systems=sign * np.array([np.nan if score is None else score for score in scores]),
        replicates=sign * np.stack([row.scores[metric].replicate_scores for row in rows], axis=1),
        segments=sign * _segment_scores(connection, rows, metric),
    )


def _segment_scores(connection: Connection, rows: Sequence[LeaderboardRow], metric: int) -> Floats:
    """(systems, segments), from stored statistics; of several runs their means."""
    evaluations = [evaluation for row in rows for evaluation in row.evaluations]
    statistics = read_statistics(connection, evaluations, metric)
    try:
        of_runs = parse_metric(rows[0].scores[metric].specification).segment_score(statistics)
    except MetricsError:
        return np.full((len(rows), statistics.shape[1]), np.nan)
    return mean_over_runs(of_runs, [len(row.evaluations) for row in rows])
