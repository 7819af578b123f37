"""Feedback on the scores of a team's own submissions: the one place where a score becomes feedback.

Everything that shows a team its scores (pages, API, exports, the command line against a server) uses `read_feedback`,
which reads no more than the phase allows, and returns nothing from which more could be derived: no details, no
replicates, no ranks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Engine, select

from campaigns.leaderboards.ladder import write_steps
from campaigns.leaderboards.rounding import DEFAULT_STEP, rounded, rounded_outwards, step_of
from models.database.session import reading, writing
from models.schema.campaigns import LadderStep
from models.schema.column_types import UNREADABLE, readable
from models.schema.corpus import Protocol, Submission, System
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.schema.roles import Feedback
from models.schema.states import EvaluationState
from models.storage.arrays import unpack
from steelyard.resampling.interval import percentile_interval
from steelyard.tables.titles import with_distinct_titles

if TYPE_CHECKING:
    from campaigns.permissions import CampaignAccess

LEVEL = 0.95
"""Confidence level of all intervals on pages and in the API."""

DESCRIPTIONS = {
    Feedback.FULL: "",
    Feedback.ROUNDED: "Scores are rounded to {step} while the phase is blind.",
    Feedback.INTERVAL: "While the phase is blind, only the interval of a score is shown "
    "({level} %, its ends rounded outwards to {step}).",
    Feedback.LADDER: "While the phase is blind, a score is shown only if it improves on your best by more than "
    "{step}; otherwise your best is repeated.",
    Feedback.NONE: "Scores are not shown while the phase is blind.",
}


@dataclass(frozen=True, slots=True)
class ScoreFeedback:
    """Feedback on a score by one metric."""

    metric: str
    """Its specification."""
    title: str
    signature: str
    higher_is_better: bool
    scale: float
    disclosed: bool
    """Whether there is feedback. If there is and has no numbers, the metric is undefined here."""
    score: float | None = None
    low: float | None = None
    high: float | None = None
    improved: bool | None = None
    """By the Ladder rule, whether it beat the team's best; None by other rules."""
    details: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class EvaluationFeedback:
    """Feedback on one evaluation of a submission."""

    submission_id: int
    evaluation_id: int
    protocol_id: int
    references: tuple[str, ...]
    state: EvaluationState
    reason: str | None
    feedback: Feedback
    step: float
    """Points on the scale of 0 to 100."""
    waiting: bool
    """Whether it is done, but the Ladder rule first needs the team's earlier submissions."""
    level: float
    """Confidence level of the intervals."""
    scores: tuple[ScoreFeedback, ...]
    """In the protocol's order; empty until it is done."""

    @property
    def words(self) -> str:
        """A sentence on how the numbers are coarsened; empty if they are not."""
        step = f"{self.step:g} points" if self.step != 1 else "whole points"
        if self.feedback == Feedback.LADDER:
            step = f"{self.step:g} point{'s' if self.step != 1 else ''}"
        return DESCRIPTIONS[self.feedback].format(step=step, level=f"{100 * LEVEL:g}")


def read_feedback(
    engine: Engine,
    access: CampaignAccess,
    submissions: Sequence[int],
    level: float = LEVEL,
    *,
    intervals: bool = True,
) -> dict[int, list[EvaluationFeedback]]:
    """Return the feedback on these submissions of a campaign, by submission, in the order of protocols.

    Others' submissions get feedback only if the leaderboard is visible to all. Missing steps of the Ladder are written,
    so no transaction may be open. `level` is that of intervals of scores that are shown in full; a list of many, which
    shows these scores alone, does without by `intervals=False`, and reads no replicates.
    """
    wanted = list(dict.fromkeys(submissions))
    with reading(engine) as connection:
        found = _evaluations(connection, access, wanted)
        feedback = _feedback_of(connection, access, found, level, intervals)
    behind = {
        row.team
        for row, each in zip(found, feedback, strict=True)
        if each.waiting and access.feedback(row.team) == Feedback.LADDER
    }
    if behind:
        points = _points(access)
        for team in sorted(behind):
            with writing(engine) as connection:
                write_steps(connection, access.campaign_id, team, points)
        with reading(engine) as connection:
            found = _evaluations(connection, access, wanted)
            feedback = _feedback_of(connection, access, found, level, intervals)
    of_submission: dict[int, list[EvaluationFeedback]] = {submission: [] for submission in wanted}
    for each in feedback:
        of_submission[each.submission_id].append(each)
    return of_submission


def _evaluations(connection: Connection, access: CampaignAccess, submissions: Sequence[int]) -> list[Any]:
    return list(
        connection.execute(
            select(Evaluation.id, Evaluation.submission_id, Evaluation.protocol_id, Evaluation.state, Evaluation.reason)
            .add_columns(System.team, Protocol.reference_labels)
            .join(Submission, Submission.id == Evaluation.submission_id)
            .join(System, System.id == Submission.system_id)
            .join(Protocol, Protocol.id == Evaluation.protocol_id)
            .where(Submission.id.in_(submissions), Submission.campaign_id == access.campaign_id, ~Protocol.sweep)
            .order_by(Evaluation.submission_id, Evaluation.protocol_id)
        )
    )


def _points(access: CampaignAccess) -> float:
    phase = access.seeing_phase
    return phase.feedback_step if phase is not None and phase.feedback_step > 0 else DEFAULT_STEP


def _feedback_of(
    connection: Connection,
    access: CampaignAccess,
    evaluations: Sequence[Any],
    level: float,
    intervals: bool,
) -> list[EvaluationFeedback]:
    points = _points(access)
    rules = {row.id: access.feedback(row.team) for row in evaluations}
    done = [row.id for row in evaluations if row.state == EvaluationState.DONE]
    common = (Score.evaluation_id, Score.metric, Score.specification, Score.title, Score.signature)
    scores: dict[int, list[ScoreFeedback]] = {}
    for rule in Feedback:
        chosen = [each for each in done if rules[each] == rule]
        columns: list[ColumnElement[Any]] = [*common, Score.higher_is_better, Score.scale]
        if rule in (Feedback.FULL, Feedback.ROUNDED, Feedback.INTERVAL):
            columns.append(Score.score)
        if rule == Feedback.INTERVAL or (rule == Feedback.FULL and intervals):
            columns.append(Score.replicate_scores)
        if rule == Feedback.FULL:
            columns.append(Score.details)
        if not chosen:
            continue
        steps = _steps(connection, chosen) if rule == Feedback.LADDER else {}
        for row in connection.execute(
            select(*columns).where(Score.evaluation_id.in_(chosen)).order_by(Score.evaluation_id, Score.metric)
        ):
            step = steps.get((row.evaluation_id, row.metric))
            made = _score_feedback(row, rule, points, step, level if intervals else None)
            if made is not None:
                scores.setdefault(row.evaluation_id, []).append(made)
    return [
        EvaluationFeedback(
            submission_id=row.submission_id,
            evaluation_id=row.id,
            protocol_id=row.protocol_id,
            references=tuple(readable(row.reference_labels, UNREADABLE)),
            state=row.state,
            reason=row.reason,
            feedback=rules[row.id],
            step=points,
            level=level if rules[row.id] == Feedback.FULL else LEVEL,
            waiting=row.state == EvaluationState.DONE and row.id not in scores,
            scores=tuple(with_distinct_titles(scores.get(row.id, ()), "metric")),
        )
        for row in evaluations
    ]


def _steps(connection: Connection, evaluations: Sequence[int]) -> dict[tuple[int, int], tuple[float | None, bool]]:
    rows = connection.execute(
        select(Evaluation.id, LadderStep.metric, LadderStep.disclosed, LadderStep.improved)
        .join(
            LadderStep,
            (LadderStep.submission_id == Evaluation.submission_id) & (LadderStep.protocol_id == Evaluation.protocol_id),
        )
        .where(Evaluation.id.in_(evaluations))
    )
    return {(row.id, row.metric): (row.disclosed, row.improved) for row in rows}


def _score_feedback(
    row: Any, rule: Feedback, points: float, step: tuple[float | None, bool] | None, level: float | None
) -> ScoreFeedback | None:
    """Return None if the Ladder rule has no step for it yet. Without a level, scores shown in full have no interval."""
    known = ScoreFeedback(
        metric=row.specification,
        title=row.title,
        signature=row.signature,
        higher_is_better=row.higher_is_better,
        scale=row.scale,
        disclosed=rule != Feedback.NONE,
    )
    if rule == Feedback.NONE:
        return known
    if rule == Feedback.LADDER:
        return None if step is None else replace(known, score=step[0], improved=step[1])
    score: float | None = row.score
    if score is None or math.isnan(score):
        return known
    if rule == Feedback.ROUNDED:
        return replace(known, score=rounded(score, step_of(points, row.scale)))
    if rule == Feedback.FULL:
        low, high = (level and _ends(row, level)) or (None, None)
        return replace(known, score=score, low=low, high=high, details=dict(readable(row.details, {})))
    # Of what is withheld many levels would show more.
    ends = _ends(row, LEVEL)
    if ends is None:
        # Without replicates there is no interval, and nothing else may be shown.
        return replace(known, disclosed=False)
    low, high = rounded_outwards(*ends, step_of(points, row.scale))
    return replace(known, low=low, high=high)


def _ends(row: Any, level: float) -> tuple[float, float] | None:
    return percentile_interval(unpack(row.replicate_scores, columns=1)[:, 0], level)
