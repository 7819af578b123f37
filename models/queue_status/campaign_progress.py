"""The progress of campaigns."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, or_, select

from models.corpus.test_sets import titled_board
from models.queue_status.evaluation_filters import EvaluationFilter, base_query, where_clauses
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignTestSet
from models.schema.corpus import Submission
from models.schema.queue import Evaluation, Shard, ShardEvaluation
from models.schema.states import OPEN, EvaluationState, LeaseState

JUST_SECONDS = 60.0
"""Seconds for which a finished campaign is still shown."""


@dataclass(frozen=True, slots=True)
class CampaignProgress:
    """The evaluations of a campaign on one test set, and their shards."""

    campaign: str
    test_set: str
    version: str
    evaluations: dict[EvaluationState, int]
    shards: int
    """Shards that count: all but split and cancelled ones."""
    shards_done: int

    @property
    def name(self) -> str:
        """Campaign and test set; each is named only if it adds information."""
        return titled_board(self.campaign, self.test_set, self.version)

    @property
    def total(self) -> int:
        """The number of evaluations."""
        return sum(self.evaluations.values())

    @property
    def open(self) -> int:
        """The number of evaluations that can still change."""
        return sum(self.evaluations[state] for state in OPEN)


def read_campaigns(connection: Connection, selection: EvaluationFilter) -> tuple[CampaignProgress, ...]:
    """The campaigns of a selection, counted over its evaluations.

    Without a filter, those with open evaluations and those with one that ended recently.
    """
    which = where_clauses(selection)
    if selection.everything:
        moving = (
            select(Submission.campaign_id)
            .join(Evaluation, Evaluation.submission_id == Submission.id)
            .where(or_(Evaluation.state.in_(OPEN), Evaluation.finished_at >= now() - JUST_SECONDS))
        )
        # A separate query: its few rows tell the database how to find the others.
        which = [Submission.campaign_id.in_(sorted(set(connection.scalars(moving))))]
    place = (Submission.campaign_id, Submission.test_set_id)
    counted = connection.execute(
        base_query(
            *place, Campaign.name.label("campaign"), CampaignTestSet.name.label("test_set"), CampaignTestSet.version
        )
        .add_columns(Evaluation.state, func.count().label("amount"))
        .where(*which)
        .group_by(*place, Campaign.name, CampaignTestSet.name, CampaignTestSet.version, Evaluation.state)
        .order_by(*place)
    ).all()
    theirs = (
        base_query(*place, ShardEvaluation.shard_id)
        .join(ShardEvaluation, ShardEvaluation.evaluation_id == Evaluation.id)
        .where(*which)
        .distinct()
        .subquery()
    )
    sharded = connection.execute(
        select(theirs.c.campaign_id, theirs.c.test_set_id, Shard.state, func.count().label("amount"))
        .join(Shard, Shard.id == theirs.c.shard_id)
        .where(Shard.state.not_in((LeaseState.FAILED, LeaseState.CANCELLED)))
        .group_by(theirs.c.campaign_id, theirs.c.test_set_id, Shard.state)
    ).all()
    shards: dict[tuple[int, int], dict[str, int]] = {}
    for row in sharded:
        shards.setdefault((row.campaign_id, row.test_set_id), {})[row.state] = row.amount
    states: dict[tuple[int, int], dict[str, int]] = {}
    names = {}
    for row in counted:
        states.setdefault((row.campaign_id, row.test_set_id), {})[row.state] = row.amount
        names[row.campaign_id, row.test_set_id] = (row.campaign, row.test_set, row.version)
    return tuple(
        CampaignProgress(
            *names[key],
            evaluations={state: amounts.get(state, 0) for state in EvaluationState},
            shards=sum(shards.get(key, {}).values()),
            shards_done=shards.get(key, {}).get(LeaseState.DONE, 0),
        )
        for key, amounts in states.items()
    )
