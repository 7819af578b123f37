"""Actions of organisers on the evaluations of a submission: cancel and retry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from campaigns.errors import Conflict, NotFound
from campaigns.fields.short_text import short_text
from campaigns.permissions import read_access_by_id
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.comparisons import end_comparisons
from models.schema.corpus import Submission
from models.schema.queue import Comparison, Evaluation
from scheduler.admin import CANCELLED, retry_unscored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from campaigns.permissions import CampaignAccess
    from runtime.settings import Settings

MAX_REASON_LENGTH = 1000


def cancel_open_evaluations(
    connection: Connection,
    access: CampaignAccess,
    evaluations: Sequence[int],
    subject: str,
    *,
    reason: str,
    counts: bool,
) -> None:
    """Cancel those of the evaluations that are open.

    Raises
    ------
    Forbidden
        If the caller lacks the permission.
    Conflict
        If none is.
    """
    access.require_organiser()
    reason = short_text(reason, "The reason", MAX_REASON_LENGTH, lines=True)
    if not cancel_evaluations(connection, evaluations, reason or CANCELLED, counts=counts):
        raise Conflict("Only queued or running evaluations can be cancelled; there are none.")
    _audit(connection, access, "evaluation.cancel", subject, reason=reason, counts=counts)


def cancel_comparison(connection: Connection, access: CampaignAccess, comparison: int, *, reason: str) -> None:
    """Cancel a comparison of systems of the campaign, and perhaps of others that the caller organises, too.

    Raises
    ------
    Forbidden
        If the caller lacks the permission.
    NotFound
        If it does not exist, or also compares systems of a campaign that the caller does not organise.
    Conflict
        If it does not run.
    """
    access.require_organiser()
    system_runs = connection.scalar(select(Comparison.systems).where(Comparison.id == comparison)) or []
    theirs = select(Submission.campaign_id).join(Evaluation, Evaluation.submission_id == Submission.id)
    its = {evaluation for runs in system_runs for evaluation in runs}
    campaigns = set(connection.scalars(theirs.where(Evaluation.id.in_(its))))
    organised = [each for each in campaigns if _organises(connection, access, each)]
    if access.campaign_id not in campaigns or len(organised) < len(campaigns):
        raise NotFound(f"There is no comparison {comparison} in this campaign.")
    reason = short_text(reason, "The reason", MAX_REASON_LENGTH, lines=True)
    if not end_comparisons(connection, [comparison], reason or CANCELLED):
        raise Conflict("Only a running comparison can be cancelled; this one has ended.")
    _audit(connection, access, "comparison.cancel", f"comparison {comparison}", reason=reason)


def _organises(connection: Connection, access: CampaignAccess, campaign_id: int) -> bool:
    """Whether the caller organises this campaign, too."""
    if campaign_id == access.campaign_id:
        return access.organises
    try:
        return read_access_by_id(connection, access.principal, campaign_id).organises
    except NotFound:
        return False


def retry_evaluations(
    connection: Connection, settings: Settings, access: CampaignAccess, evaluations: Sequence[int], subject: str
) -> None:
    """Queue those of the evaluations again that failed or were cancelled, or lack the scores of a metric that failed.

    Raises
    ------
    Forbidden
        If the caller lacks the permission.
    Conflict
        If there are none.
    """
    access.require_organiser()
    if not retry_unscored(connection, settings, evaluations):
        raise Conflict(
            "Only evaluations that failed, were cancelled or lack a metric that failed can be retried; there are none."
        )
    _audit(connection, access, "evaluation.retry", subject)


def _audit(connection: Connection, access: CampaignAccess, action: str, subject: str, **details: object) -> None:
    access.principal.audit(connection, action, subject, campaign_id=access.campaign_id, **details)
