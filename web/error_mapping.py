"""What errors of other rooms are in this one."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from campaigns.errors import (
    BadRequest,
    Closed,
    Forbidden,
    NotThere,
    Taken,
    TooMany,
    Unavailable,
    Unreadable,
    WebError,
)
from campaigns.quotas.errors import QuotaUsedUp
from campaigns.submissions.errors import NotTakingPart, PhaseClosed, ReusedKey
from metrics.errors import MetricsError
from models.errors import (
    BadBlob,
    BadStore,
    MissingObject,
    ModelsError,
    NotFound,
    RowsHeld,
    Unreachable,
    UnreachableStore,
    UnreadableRow,
)
from scheduler.errors import SchedulerError

if TYPE_CHECKING:
    from collections.abc import Sequence


log = logging.getLogger(__name__)

KINDS: Sequence[tuple[type[Exception], type[WebError]]] = (
    (NotFound, NotThere),
    (UnreadableRow, Unreadable),
    (BadBlob, Unreadable),
    (RowsHeld, Unavailable),
    (Unreachable, Unavailable),
    (QuotaUsedUp, TooMany),
    (ReusedKey, Taken),
    (PhaseClosed, Closed),
    (NotTakingPart, Forbidden),
    (SchedulerError, BadRequest),
    (MetricsError, BadRequest),
    (ModelsError, BadRequest),
)
"""What errors of other rooms are here; the first that fits."""


OF_THE_STORE = (MissingObject, BadStore, UnreachableStore)
"""What whoever runs the server has to mend: they name folders and buckets, which are nobody else's concern."""


def as_web_error(error: Exception) -> WebError:
    """The error as this room says it."""
    if isinstance(error, WebError):
        return error
    if isinstance(error, QuotaUsedUp):
        return _quota(error)
    if isinstance(error, OF_THE_STORE):
        log.warning("Statistics could not be read: %s", error)
        return Unavailable("Statistics that this needs cannot be read now. The log of the server says why.")
    for kind, made in KINDS:
        if isinstance(error, kind):
            return made(str(error))
    return Unavailable()


def _quota(error: QuotaUsedUp) -> TooMany:
    """With a line for each limit that leaves no room, and when there is room again where the calendar says it."""
    # A hint only, so the clock of this machine will do.
    free = [each.free_at - time.time() for each in error.standings if each.free_at is not None]
    details = [f"{each.used} of {each.amount} {each.of_what}" for each in error.standings]
    return TooMany(str(error), details=details, retry_seconds=max(free, default=None))
