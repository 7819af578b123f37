"""The leaderboard of a protocol: its systems with their scores, by rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from models.arrays import unpack
from models.errors import NotFound
from models.evaluation import Evaluation
from models.protocol import Protocol
from models.score import Score
from models.states import EvaluationState
from models.submission import Submission
from models.system import System


@dataclass(frozen=True, slots=True, eq=False)
class LeaderboardScore:
    """A system's score by one metric."""

    specification: str
    title: str
    signature: str
    higher_is_better: bool
    scale: float
    score: float | None
    """None where the metric is undefined."""
    details: Mapping[str, float]
    """Further figures to show with the score, by name."""
    replicate_scores: NDArray[np.float64]
    """(replicates,), NaN where undefined; compare two systems replicate by replicate."""
    rank: int | None
    """From 1; equal scores share a rank; None where there is no score."""


@dataclass(frozen=True, slots=True, eq=False)
class LeaderboardRow:
    """One system of a leaderboard."""

    team: str
    system: str
    submission_id: int
    evaluation_id: int
    state: EvaluationState
    reason: str | None
    scores: tuple[LeaderboardScore, ...]
    """In the protocol's order; empty until the evaluation is done."""


def read_leaderboard(
    connection: Connection,
    protocol_id: int,
    *,
    campaign_id: int | None = None,
    sort_metric: int = 0,
    all_submissions: bool = False,
) -> list[LeaderboardRow]:
    """The systems of a protocol, best first by one of its metrics.

    `sort_metric` is a position in the protocol's list of metrics. Systems without a score (not
    done, failed, undefined) come last, by name. Unless `all_submissions`, a system stands only with
    its last submission (in each campaign). Raises NotFound.
    """
    metrics = connection.scalar(select(Protocol.metrics).where(Protocol.id == protocol_id))
    if metrics is None:
        raise NotFound(f"There is no protocol {protocol_id}.")
    if not 0 <= sort_metric < len(metrics):
        raise NotFound(f"Protocol {protocol_id} has {len(metrics)} metrics; there is no number {sort_metric + 1}.")
    chosen = (
        select(
            Evaluation.id,
            Evaluation.state,
            Evaluation.reason,
            Evaluation.submission_id,
            System.team,
            System.name,
            func.max(Submission.id).over(partition_by=(Submission.campaign_id, System.id)).label("last"),
        )
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(System, System.id == Submission.system_id)
        .where(Evaluation.protocol_id == protocol_id)
    )
    if campaign_id is not None:
        chosen = chosen.where(Submission.campaign_id == campaign_id)
    evaluations = [row for row in connection.execute(chosen) if all_submissions or row.submission_id == row.last]
    measured = connection.execute(
        select(Score)
        .join(Evaluation, Evaluation.id == Score.evaluation_id)
        .where(Evaluation.protocol_id == protocol_id)
        .order_by(Score.evaluation_id, Score.metric)
    ).all()
    shown = {row.id for row in evaluations}
    measured = [row for row in measured if row.evaluation_id in shown]
    ranks: dict[tuple[int, int], int] = {}
    for metric in range(len(metrics)):
        of_metric = [row for row in measured if row.metric == metric and row.score is not None]
        by_id = {row.evaluation_id: row.score for row in of_metric}
        higher = all(row.higher_is_better for row in of_metric)
        ranks.update({(key, metric): rank for key, rank in ranked(by_id, higher).items()})
    scores: dict[int, list[LeaderboardScore]] = {}
    for row in measured:
        scores.setdefault(row.evaluation_id, []).append(
            LeaderboardScore(
                specification=row.specification,
                title=row.title,
                signature=row.signature,
                higher_is_better=row.higher_is_better,
                scale=row.scale,
                score=row.score,
                details=row.details,
                replicate_scores=unpack(row.replicate_scores)[:, 0],
                rank=ranks.get((row.evaluation_id, row.metric)),
            )
        )
    unranked = len(evaluations) + 1
    evaluations.sort(key=lambda row: (ranks.get((row.id, sort_metric), unranked), row.team, row.name, row.id))
    return [
        LeaderboardRow(
            team=row.team,
            system=row.name,
            submission_id=row.submission_id,
            evaluation_id=row.id,
            state=EvaluationState(row.state),
            reason=row.reason,
            scores=tuple(scores.get(row.id, ())),
        )
        for row in evaluations
    ]


def ranked(scores: dict[int, float], higher_is_better: bool) -> dict[int, int]:
    """Ranks from 1; equal scores share one, and the next rank is left out for each that shares."""
    ordered = sorted(scores.values(), reverse=higher_is_better)
    first_place = {score: place for place, score in reversed(list(enumerate(ordered, start=1)))}
    return {key: first_place[score] for key, score in scores.items()}
