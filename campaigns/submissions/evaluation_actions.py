"""What organisers do to the measuring of a submission by hand: stop it, try it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from campaigns.errors import NotThere, Taken
from campaigns.short_text import short_text
from models.queue.comparisons import end_comparisons
from models.queue.evaluation_end import cancel_evaluations, lock_evaluations
from models.schema.corpus import Submission
from models.schema.queue import Comparison, Evaluation
from scheduler.admin import CANCELLED, UNFINISHED, queue_again

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from campaigns.permissions import Sight
    from runtime.settings import Settings

LONGEST_REASON = 1000


def cancel(
    connection: Connection, sight: Sight, evaluations: Sequence[int], subject: str, *, reason: str, counts: bool
) -> None:
    """Stop those of the evaluations that are open. Raises Forbidden, and Taken where none is."""
    sight.require_organiser()
    reason = short_text(reason, "The reason", LONGEST_REASON, lines=True)
    if not cancel_evaluations(connection, evaluations, reason or CANCELLED, counts=counts):
        raise Taken("Nothing of it is open: only what waits or is being measured can be cancelled.")
    _audit(connection, sight, "evaluation.cancel", subject, reason=reason, counts=counts)


def cancel_comparison(connection: Connection, sight: Sight, comparison: int, *, reason: str) -> None:
    """End a comparison of systems of the campaign. Raises Forbidden, NotThere, and Taken where it does not run."""
    sight.require_organiser()
    contestants = connection.scalar(select(Comparison.contestants).where(Comparison.id == comparison)) or []
    theirs = select(Submission.campaign_id).join(Evaluation, Evaluation.submission_id == Submission.id)
    its = {evaluation for runs in contestants for evaluation in runs}
    if set(connection.scalars(theirs.where(Evaluation.id.in_(its)))) != {sight.campaign_id}:
        raise NotThere(f"There is no comparison {comparison} in this campaign.")
    reason = short_text(reason, "The reason", LONGEST_REASON, lines=True)
    if not end_comparisons(connection, [comparison], reason or CANCELLED):
        raise Taken("It has ended: only a comparison that runs can be cancelled.")
    _audit(connection, sight, "comparison.cancel", f"comparison {comparison}", reason=reason)


def retry(connection: Connection, settings: Settings, sight: Sight, evaluations: Sequence[int], subject: str) -> None:
    """Queue those of the evaluations again that failed or were cancelled. Raises Forbidden, and Taken where none."""
    sight.require_organiser()
    held = lock_evaluations(connection, evaluations, UNFINISHED)
    if not held:
        raise Taken("Nothing of it failed or was cancelled: only that can be tried again.")
    queue_again(connection, settings, held, None)
    _audit(connection, sight, "evaluation.retry", subject)


def _audit(connection: Connection, sight: Sight, action: str, subject: str, **details: object) -> None:
    sight.principal.audit(connection, action, subject, campaign_id=sight.campaign_id, **details)
