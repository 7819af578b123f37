"""Which submissions of a campaign are visible, and what of each: the one rule for pages, API and exports.

Organisers see all, and a team all its own, except for test sets whose phase has not begun. Others see the entries of
leaderboards that they may see: the latest submission of each system and its runs, and a primary one, none withdrawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from models.results.entries import are_ranked, standing_entries
from models.schema.campaigns import Declaration
from models.schema.corpus import Submission, System
from models.schema.roles import Feedback, SystemOrigin
from steelyard_client.vocabulary import ORIGINS

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from campaigns.permissions import CampaignAccess


@dataclass(frozen=True, slots=True)
class VisibleSubmission:
    """A submission that is visible to somebody."""

    id: int
    test_set_id: int
    text_id: int
    own: bool
    """Whether everything of it is visible: the viewer is in its team, or organises the campaign."""
    real_team: str
    """Must never be shown."""
    team: str
    """As it may be shown; likewise the following fields."""
    system: str
    run: str
    output: bool
    """Whether its text is visible."""
    scores: bool
    """Whether its scores are visible in full."""
    row: Any
    """What was declared: kind, constrained, description, phase, late_seconds, withdrawn_at; and created_at."""


def read_visible_submissions(
    connection: Connection, access: CampaignAccess, *conditions: ColumnElement[bool]
) -> list[VisibleSubmission]:
    """Return the visible submissions by id.

    `conditions` may restrict test sets only: other conditions would change which submissions are ranked.
    """
    rows = connection.execute(
        select(
            *(Submission.id.label("submission_id"), Submission.text_id, Submission.run, System.team, System.name),
            *(Submission.campaign_id, Submission.test_set_id, Submission.created_at, Declaration.kind),
            *(Declaration.constrained, Declaration.description, Declaration.phase, Declaration.late_seconds),
            Declaration.withdrawn_at,
        )
        .join(System, System.id == Submission.system_id)
        .outerjoin(Declaration, Declaration.submission_id == Submission.id)
        .where(Submission.campaign_id == access.campaign_id, *conditions)
        .order_by(Submission.id)
    ).all()
    of_test_set: dict[int, list[Any]] = {}
    for row in rows:
        if access.sees_source(row.test_set_id):
            of_test_set.setdefault(row.test_set_id, []).append(row)
    found = []
    # What holds for all submissions of a team is asked once.
    own_teams, shown_team = access.own_teams, cache(access.name_of)
    sees_scores = cache(lambda team: access.feedback(team) == Feedback.FULL)
    for test_set_id, there in of_test_set.items():
        # Organisers see all, whatever stands.
        entries = [] if access.organises else standing_entries([row for row in there if row.withdrawn_at is None])
        stands = {
            row.submission_id: access.sees_output(entry.team, entry.kind, ranked=ranked)
            for entry, ranked in zip(entries, are_ranked(entries), strict=True)
            for row in entry.runs
        }
        for row in there:
            # Looking up ten columns by their names would be most of the work where there are thousands of rows.
            submission, text, run, team, system, *_ = row
            own = access.organises or team in own_teams
            if own or (access.sees_board and submission in stands):
                found.append(
                    VisibleSubmission(
                        id=submission,
                        test_set_id=test_set_id,
                        text_id=text,
                        own=own,
                        real_team=team,
                        team=shown_team(team),
                        system=access.system_name_of(team, system),
                        run=access.system_name_of(team, run) if run else "",
                        output=own or stands[submission],
                        scores=sees_scores(team),
                        row=row,
                    )
                )
    return sorted(found, key=lambda each: each.id)


def sees_output(connection: Connection, access: CampaignAccess, submission: int, test_set_id: int) -> bool:
    """Return whether the text of this submission is visible."""
    there = read_visible_submissions(connection, access, Submission.test_set_id == test_set_id)
    return any(each.output for each in there if each.id == submission)


def sees_system(access: CampaignAccess, team: str, origin: SystemOrigin) -> bool:
    """Return whether the viewer may know which system one on a visible leaderboard is, and so see its page."""
    return access.sees_names or team in access.own_teams or (not team and origin in ORIGINS)
