"""The ledger: which submissions of a team count against its quotas.

Whether an entry counts is not written down but follows from the evaluations that the team asked for with it: one that
failed by a fault of the platform, or that was cancelled, gives the attempt back in the very transaction in which it
ends, and queueing it again takes the attempt again. So ledger and evaluations cannot disagree.
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

from models.database.upsert import insert_if_absent
from models.schema.base import now
from models.schema.campaigns import LedgerEntry, QuotaAccount, SubmissionRequest
from models.schema.queue import Evaluation
from models.schema.states import OPEN, EvaluationState, Fault


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the ledger with what follows from its evaluations."""

    submission_id: int
    phase: str
    created_at: float
    open: bool
    """Whether it is in flight: one of its evaluations will still change by itself."""
    given_back_at: float | None
    """Since when it does not count; None while it does."""
    reason: str | None
    """Why it was given back, where that was said."""


def lock_account(connection: Connection, campaign_id: int, team: str) -> int:
    """The account of a team in a campaign, held until the transaction ends; it is made where there is none."""
    insert_if_absent(connection, QuotaAccount, [{"campaign_id": campaign_id, "team": team}])
    return connection.execute(
        select(QuotaAccount.id)
        .where(QuotaAccount.campaign_id == campaign_id, QuotaAccount.team == team)
        .with_for_update()
    ).scalar_one()


def read_entries(connection: Connection, campaign_id: int, team: str, submission: int | None = None) -> list[Entry]:
    """The entries of a team in a campaign, in the order in which they were made; or that of one submission."""
    given_back = (
        select(func.min(Evaluation.finished_at)).where(_asked_for(), _lost()).correlate(LedgerEntry).scalar_subquery()
    )
    reason = (
        select(Evaluation.reason)
        .where(_asked_for(), _lost())
        .order_by(Evaluation.finished_at, Evaluation.id)
        .limit(1)
        .correlate(LedgerEntry)
        .scalar_subquery()
    )
    rows = connection.execute(
        select(
            LedgerEntry.submission_id,
            LedgerEntry.phase,
            LedgerEntry.created_at,
            exists().where(_asked_for(), Evaluation.state.in_(OPEN)).correlate(LedgerEntry).label("open"),
            given_back.label("given_back_at"),
            reason.label("reason"),
        )
        .join(QuotaAccount, QuotaAccount.id == LedgerEntry.account_id)
        .where(QuotaAccount.campaign_id == campaign_id, QuotaAccount.team == team)
        .where(true() if submission is None else LedgerEntry.submission_id == submission)
        .order_by(LedgerEntry.created_at, LedgerEntry.submission_id)
    )
    return [
        Entry(row.submission_id, row.phase, row.created_at, bool(row.open), row.given_back_at, row.reason)
        for row in rows
    ]


def write_entry(connection: Connection, account_id: int, submission_id: int, phase: str, *, at: float | None) -> None:
    """Write that a team has had this submission queued, once its evaluations are queued.

    `at` is when the attempt was made, None where it is one that is in the ledger already and counts.
    """
    latest = connection.scalar(select(func.max(Evaluation.created_at)).where(Evaluation.submission_id == submission_id))
    # Both are the database's clock, which may have been set in between.
    queued_at = max(latest or 0.0, connection.execute(select(now())).scalar_one())
    values: dict[str, object] = {"queued_at": queued_at}
    if at is not None:
        values |= {"created_at": at, "phase": phase}
        row = {"submission_id": submission_id, "account_id": account_id, **values}
        insert_if_absent(connection, LedgerEntry, [row])
    connection.execute(update(LedgerEntry).where(LedgerEntry.submission_id == submission_id).values(**values))


def read_request(connection: Connection, account_id: int, request_key: str) -> int | None:
    """The submission that came of the request with this key; None where there was none."""
    return connection.scalar(
        select(SubmissionRequest.submission_id).where(
            SubmissionRequest.account_id == account_id, SubmissionRequest.request_key == request_key
        )
    )


def _asked_for() -> ColumnElement[bool]:
    """An evaluation that a team asked for with an entry."""
    return and_(Evaluation.submission_id == LedgerEntry.submission_id, Evaluation.created_at <= LedgerEntry.queued_at)


def _lost() -> ColumnElement[bool]:
    """It ended without scores, and not through what the team handed in."""
    return and_(
        Evaluation.state.in_((EvaluationState.FAILED, EvaluationState.CANCELLED)),
        # Workers of an earlier release do not say whose fault it was: then nobody is charged.
        func.coalesce(Evaluation.fault, Fault.PLATFORM) != Fault.INPUT,
    )
