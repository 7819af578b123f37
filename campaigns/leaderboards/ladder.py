"""The Ladder rule (Blum and Hardt 2015): repeated submissions reveal nothing but real improvements.

A score is shown, rounded to the step, only if it beats the best that was shown to the team before by more than the
step; otherwise that best is repeated. Between two improvements a team therefore sees the same number, whatever it
tries, and at most as many numbers as there are steps between 0 and the largest score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, select

from campaigns.leaderboards.rounding import rounded, step_of
from campaigns.quotas.usage_log import lock_quota_account
from models.database.upsert import insert_ignore
from models.schema.campaigns import LadderStep
from models.schema.corpus import Submission, System
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.schema.states import OPEN, EvaluationState


def next_step(best: float | None, score: float | None, step: Fraction, *, higher_is_better: bool) -> float | None:
    """Return the score to show after the best shown so far; None if that best is repeated."""
    if score is None or math.isnan(score):
        return None
    sign = 1 if higher_is_better else -1
    if best is None or sign * (Fraction(score) - Fraction(best)) > step:
        return rounded(score, step)
    return None


def write_steps(connection: Connection, campaign_id: int, team: str, points: float) -> None:
    """Store what a team is shown of its finished submissions, in the order of submission.

    Stored steps never change. An unfinished submission holds up those after it, because another order would give other
    steps. Withdrawn ones count, since the team has seen them.
    """
    # One at a time for each team: two that do not see each other's steps would start from the same best.
    lock_quota_account(connection, campaign_id, team)
    submitted = connection.execute(
        select(Evaluation.id, Evaluation.protocol_id, Evaluation.state, Evaluation.submission_id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(System, System.id == Submission.system_id)
        .where(Submission.campaign_id == campaign_id, System.team == team)
        .order_by(Evaluation.submission_id)
    ).all()
    for protocol in sorted({row.protocol_id for row in submitted}):
        _write_protocol_steps(
            connection, team, protocol, [row for row in submitted if row.protocol_id == protocol], points
        )


def _write_protocol_steps(
    connection: Connection,
    team: str,
    protocol: int,
    evaluations: Sequence[Any],
    points: float,
) -> None:
    submissions = [row.submission_id for row in evaluations]
    written = connection.execute(
        select(LadderStep.submission_id, LadderStep.metric, LadderStep.disclosed).where(
            LadderStep.protocol_id == protocol, LadderStep.submission_id.in_(submissions)
        )
    ).all()
    known = {row.submission_id for row in written}
    fresh = []
    for row in evaluations:
        if row.state in OPEN:
            break
        if row.state == EvaluationState.DONE and row.submission_id not in known:
            fresh.append(row)
    scores: dict[int, list[Any]] = {}
    for score in connection.execute(
        select(Score.evaluation_id, Score.metric, Score.score, Score.higher_is_better, Score.scale)
        .where(Score.evaluation_id.in_([row.id for row in fresh]))
        .order_by(Score.metric)
    ):
        scores.setdefault(score.evaluation_id, []).append(score)
    said: dict[int, list[float]] = {}
    for step in written:
        if step.disclosed is not None:
            said.setdefault(step.metric, []).append(step.disclosed)
    rows = []
    for row in fresh:
        for score in scores.get(row.id, []):
            before = said.setdefault(score.metric, [])
            best = (max if score.higher_is_better else min)(before, default=None)
            size = step_of(points, score.scale)
            new = next_step(best, score.score, size, higher_is_better=score.higher_is_better)
            shown = best if new is None and score.score is not None else new
            if shown is not None:
                before.append(shown)
            key = {"submission_id": row.submission_id, "protocol_id": protocol, "metric": score.metric}
            rows.append({**key, "team": team, "disclosed": shown, "improved": new is not None})
    insert_ignore(connection, LadderStep, rows)
