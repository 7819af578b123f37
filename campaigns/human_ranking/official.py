"""The official ranking of the systems of a test set by human judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from analysis.meta_evaluation.human import display_names, is_reference
from analysis.meta_evaluation.human_ranking import HumanRanking, rank_stored
from models.corpus.judgments import list_judgments
from models.corpus.test_sets import SubmittedSystem
from models.schema.corpus import Submission, System

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.leaderboards.cache import LeaderboardCache
    from campaigns.permissions import CampaignAccess
    from models.corpus.judgments import StoredJudgments

CELL_BYTES = 300
"""Approximate size of a ranked system in a cache."""


def read_official(
    connection: Connection, access: CampaignAccess, test_set_id: int, memory: LeaderboardCache
) -> HumanRanking | None:
    """Return the official ranking of a test set; None where the campaign has no rule, or no such judgments there."""
    if not access.human_rule:
        return None
    stored = chosen_judgments(connection, access, test_set_id)
    if stored is None:
        return None
    # SQLite may reuse the id of deleted judgments.
    key = "human ranking", access.campaign_id, stored.id, stored.created_at, test_set_id, access.human_rule
    known: HumanRanking | None = memory.get(key)
    if known is None:
        known = rank_stored(connection, access.human_rule, test_set_id, stored)
        memory.put(key, known, CELL_BYTES * (1 + len(known.systems)))
    return known


def chosen_judgments(connection: Connection, access: CampaignAccess, test_set_id: int) -> StoredJudgments | None:
    """Return the judgments of a test set that the campaign ranks by: the newest of the name, or that version."""
    stored = list_judgments(connection, access.campaign_id, test_set_id)
    return next((each for each in stored if access.human_judgments in (each.name, each.title)), None)


def submissions_of_judged(connection: Connection, campaign_id: int, test_set_id: int) -> dict[str, list[int]]:
    """Return the submissions of each system under the name that judgments have for it."""
    rows = connection.execute(
        select(System.team, System.name, Submission.id)
        .join(Submission, Submission.system_id == System.id)
        .where(Submission.campaign_id == campaign_id, Submission.test_set_id == test_set_id)
        .order_by(Submission.id)
    ).all()
    names = display_names(dict.fromkeys(SubmittedSystem(row.team, row.name) for row in rows))
    found: dict[str, list[int]] = {}
    for row in rows:
        found.setdefault(names[SubmittedSystem(row.team, row.name)], []).append(row.id)
    return found


def shown_without_submission(name: str) -> bool:
    """Return whether a judged name without a submission may be shown to everybody: only human translations."""
    return is_reference(name)
