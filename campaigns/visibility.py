"""Which submissions of a campaign somebody may know of, and what of each: the one rule of pages, API and exports.

Organisers see all, and a team all of its own, but for test sets whose phase has not begun. Others see what stands on a
leaderboard that they may see: the last of each system and its runs, and a primary one, none that was withdrawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from models.results.entries import are_ranked, standing_entries
from models.schema.campaigns import Declaration
from models.schema.corpus import Submission, System
from models.schema.roles import Feedback

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from campaigns.permissions import Sight


@dataclass(frozen=True, slots=True)
class Shown:
    """A submission that somebody may know of."""

    id: int
    test_set_id: int
    text_id: int
    own: bool
    """Whether all of it may be known: it is of a team of whoever looks, or whoever looks organises."""
    real_team: str
    """Never to be shown."""
    team: str
    """As it may be shown, and so with what follows."""
    system: str
    run: str
    output: bool
    """Whether its text may be seen."""
    scores: bool
    """Whether its scores may be seen in full."""
    row: Any
    """What was declared: kind, constrained, description, phase, late_seconds, withdrawn_at; and created_at."""


def read_shown(connection: Connection, sight: Sight, *conditions: ColumnElement[bool]) -> list[Shown]:
    """What somebody may know of, by number; `conditions` are on test sets alone, for others decide who stands."""
    rows = connection.execute(
        select(
            *(Submission.id.label("submission_id"), Submission.campaign_id, Submission.test_set_id),
            *(Submission.run, Submission.text_id, Submission.created_at, System.team, System.name, Declaration.kind),
            *(Declaration.constrained, Declaration.description, Declaration.phase, Declaration.late_seconds),
            Declaration.withdrawn_at,
        )
        .join(System, System.id == Submission.system_id)
        .outerjoin(Declaration, Declaration.submission_id == Submission.id)
        .where(Submission.campaign_id == sight.campaign_id, *conditions)
        .order_by(Submission.id)
    ).all()
    of_test_set: dict[int, list[Any]] = {}
    for row in rows:
        if sight.sees_source(row.test_set_id):
            of_test_set.setdefault(row.test_set_id, []).append(row)
    found = []
    for there in of_test_set.values():
        entries = standing_entries([row for row in there if row.withdrawn_at is None])
        stands = {
            row.submission_id: sight.sees_output(entry.team, entry.kind, ranked=ranked)
            for entry, ranked in zip(entries, are_ranked(entries), strict=True)
            for row in entry.runs
        }
        for row in there:
            own = sight.organises or row.team in sight.own_teams
            if own or (sight.sees_board and row.submission_id in stands):
                found.append(_shown(sight, row, own=own, output=own or stands[row.submission_id]))
    return sorted(found, key=lambda each: each.id)


def sees_output(connection: Connection, sight: Sight, submission: int, test_set_id: int) -> bool:
    """Whether the text of this submission may be seen."""
    there = read_shown(connection, sight, Submission.test_set_id == test_set_id)
    return any(each.output for each in there if each.id == submission)


def _shown(sight: Sight, row: Any, *, own: bool, output: bool) -> Shown:
    return Shown(
        id=row.submission_id,
        test_set_id=row.test_set_id,
        text_id=row.text_id,
        own=own,
        real_team=row.team,
        team=sight.name_of(row.team),
        system=sight.system_name_of(row.team, row.name),
        run=sight.system_name_of(row.team, row.run),
        output=output,
        scores=sight.feedback(row.team) == Feedback.FULL,
        row=row,
    )
