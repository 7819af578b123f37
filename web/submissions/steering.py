"""What organisers do to the measuring of a submission by hand: stop it, try it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.outcomes import cancel_evaluations, lock_evaluations
from scheduler.controls import CANCELLED, UNFINISHED, queue_again
from web.errors import Taken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from web.life.sight import Sight
    from worker.settings import Settings

LONGEST_REASON = 1000


def cancel(
    connection: Connection, sight: Sight, evaluations: Sequence[int], subject: str, *, reason: str, counts: bool
) -> None:
    """Stop those of the evaluations that are open. Raises Forbidden, and Taken where none is."""
    sight.require_organiser()
    reason = reason.replace("\0", "")[:LONGEST_REASON]
    if not cancel_evaluations(connection, evaluations, reason or CANCELLED, counts=counts):
        raise Taken("Nothing of it is open: only what waits or is being measured can be cancelled.")
    _audit(connection, sight, "evaluation.cancel", subject, reason=reason, counts=counts)


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
