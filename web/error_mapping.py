"""Maps errors of other rooms to HTTP errors (`campaigns.errors`)."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from campaigns.errors import (
    BadRequest,
    CampaignsError,
    Closed,
    Conflict,
    Forbidden,
    NotFound,
    TooMany,
    Unavailable,
    Unreadable,
)
from campaigns.quotas.errors import QuotaUsedUp
from campaigns.submissions.errors import NotTakingPart, PhaseClosed, ReusedKey
from models.errors import (
    BadBlob,
    BadStore,
    MissingObject,
    ModelsError,
    RowsHeld,
    Unreachable,
    UnreachableStore,
    UnreadableRow,
)
from models.errors import NotFound as RecordNotFound
from scheduler.errors import NothingToDo, SchedulerError
from steelyard.errors import MetricsError

if TYPE_CHECKING:
    from collections.abc import Sequence


log = logging.getLogger(__name__)

ERROR_CLASSES: Sequence[tuple[type[Exception], type[CampaignsError]]] = (
    (RecordNotFound, NotFound),
    (UnreadableRow, Unreadable),
    (BadBlob, Unreadable),
    (RowsHeld, Unavailable),
    (Unreachable, Unavailable),
    (QuotaUsedUp, TooMany),
    (ReusedKey, Conflict),
    (PhaseClosed, Closed),
    (NotTakingPart, Forbidden),
    (NothingToDo, Conflict),
    (SchedulerError, BadRequest),
    (MetricsError, BadRequest),
    (ModelsError, BadRequest),
)
"""Error class -> HTTP error; the first match wins."""


STORE_ERRORS = (MissingObject, BadStore, UnreachableStore)
"""For the server's operator only: the messages name folders and buckets."""


def as_campaigns_error(error: Exception) -> CampaignsError:
    """The HTTP error for any error."""
    if isinstance(error, CampaignsError):
        return error
    if isinstance(error, QuotaUsedUp):
        return _quota(error)
    if isinstance(error, STORE_ERRORS):
        log.warning("Statistics could not be read: %s", error)
        return Unavailable("Statistics that this needs cannot be read now. The log of the server says why.")
    for kind, mapped in ERROR_CLASSES:
        if isinstance(error, kind):
            return mapped(str(error))
    return Unavailable()


def _quota(error: QuotaUsedUp) -> TooMany:
    """With one detail per exhausted quota, and Retry-After where the time is known."""
    # Only a hint to clients, so this machine's clock is precise enough.
    free = [each.free_at - time.time() for each in error.usage if each.free_at is not None]
    details = [f"{each.used} of {each.amount} {each.of_what}" for each in error.usage]
    return TooMany(str(error), details=details, retry_seconds=max(free, default=None))
