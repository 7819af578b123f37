"""The quota usage log: which submissions of a team count against its quotas.

Whether an entry counts is not stored but follows from the evaluations that the team requested with it: one that failed
through a platform error or was cancelled no longer counts, from the very transaction in which it ends, and queueing it
again makes it count again. So usage log and evaluations cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    exists,
    func,
    select,
    true,
    update,
)

from models.database.upsert import insert_ignore
from models.schema.base import database_time
from models.schema.campaigns import QuotaAccount, SubmissionRequest, UsageLogEntry
from models.schema.queue import Evaluation
from models.schema.states import OPEN, UNFINISHED, Fault


@dataclass(frozen=True, slots=True)
class UsageEntry:
    """An entry of the usage log with what follows from its evaluations."""

    submission_id: int
    phase: str
    created_at: float
    open: bool
    """Whether it is in flight: one of its evaluations is not finished."""
    given_back_at: float | None
    """Since when it does not count; None while it does."""
    reason: str | None
    """Why it does not count, if a reason was given."""


def lock_quota_account(connection: Connection, campaign_id: int, team: str) -> int:
    """Lock the quota account of a team in a campaign until the transaction ends, creating it if necessary; its id."""
    insert_ignore(connection, QuotaAccount, [{"campaign_id": campaign_id, "team": team}])
    return connection.execute(
        select(QuotaAccount.id)
        .where(QuotaAccount.campaign_id == campaign_id, QuotaAccount.team == team)
        .with_for_update()
    ).scalar_one()


def read_usage_entries(
    connection: Connection, campaign_id: int, team: str, submission: int | None = None
) -> list[UsageEntry]:
    """Return the entries of a team in a campaign, oldest first; or that of one submission."""
    given_back = (
        select(func.min(Evaluation.finished_at))
        .where(_requested_by_team(), _not_counted())
        .correlate(UsageLogEntry)
        .scalar_subquery()
    )
    reason = (
        select(Evaluation.reason)
        .where(_requested_by_team(), _not_counted())
        .order_by(Evaluation.finished_at, Evaluation.id)
        .limit(1)
        .correlate(UsageLogEntry)
        .scalar_subquery()
    )
    rows = connection.execute(
        select(
            UsageLogEntry.submission_id,
            UsageLogEntry.phase,
            UsageLogEntry.created_at,
            exists().where(_requested_by_team(), Evaluation.state.in_(OPEN)).correlate(UsageLogEntry).label("open"),
            given_back.label("given_back_at"),
            reason.label("reason"),
        )
        .join(QuotaAccount, QuotaAccount.id == UsageLogEntry.account_id)
        .where(QuotaAccount.campaign_id == campaign_id, QuotaAccount.team == team)
        .where(true() if submission is None else UsageLogEntry.submission_id == submission)
        .order_by(UsageLogEntry.created_at, UsageLogEntry.submission_id)
    )
    return [
        UsageEntry(row.submission_id, row.phase, row.created_at, bool(row.open), row.given_back_at, row.reason)
        for row in rows
    ]


def record_usage(connection: Connection, account_id: int, submission_id: int, phase: str, *, at: float | None) -> None:
    """Record that a team has queued this submission; call it after its evaluations are queued.

    `at` is the time of the submission, None if it is in the log already and counts.
    """
    latest = connection.scalar(select(func.max(Evaluation.created_at)).where(Evaluation.submission_id == submission_id))
    # Both are by the database's clock, which may have been adjusted in between.
    queued_at = max(latest or 0.0, database_time(connection))
    values: dict[str, object] = {"queued_at": queued_at}
    if at is not None:
        values |= {"created_at": at, "phase": phase}
        row = {"submission_id": submission_id, "account_id": account_id, **values}
        insert_ignore(connection, UsageLogEntry, [row])
    connection.execute(update(UsageLogEntry).where(UsageLogEntry.submission_id == submission_id).values(**values))


def read_request(connection: Connection, account_id: int, request_key: str) -> int | None:
    """Return the submission created by the request with this key; None if there was none."""
    return connection.scalar(
        select(SubmissionRequest.submission_id).where(
            SubmissionRequest.account_id == account_id, SubmissionRequest.request_key == request_key
        )
    )


def _requested_by_team() -> ColumnElement[bool]:
    """Condition: an evaluation that a team requested with an entry."""
    return and_(
        Evaluation.submission_id == UsageLogEntry.submission_id, Evaluation.created_at <= UsageLogEntry.queued_at
    )


def _not_counted() -> ColumnElement[bool]:
    """Condition: it ended without scores, and not because of what the team submitted."""
    return and_(
        Evaluation.state.in_(UNFINISHED),
        # Workers of an earlier release store no fault: then it does not count.
        func.coalesce(Evaluation.fault, Fault.PLATFORM) != Fault.INPUT,
    )
