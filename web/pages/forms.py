"""What a form says back when it cannot be done as it was filled in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from campaigns.errors import CampaignsError, NotSignedIn
from metrics.errors import MetricsError
from models.errors import ModelsError
from scheduler.errors import SchedulerError

SHOWN_BESIDE_THE_FORM = frozenset({409, 412, 413, 422})
"""What whoever filled it in can put right; everything else has a page of its own."""


class Refused(Exception):
    """What is wrong with what was filled in."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@contextmanager
def filled_in() -> Iterator[None]:
    """Raises Refused for what can be put right in the form itself."""
    from web.error_mapping import as_campaigns_error

    try:
        yield
    except NotSignedIn:
        raise
    except (CampaignsError, SchedulerError, MetricsError, ModelsError) as error:
        known = as_campaigns_error(error)
        if known.status not in SHOWN_BESIDE_THE_FORM and not isinstance(error, ModelsError):
            raise
        details = "".join(f"\n{detail}" for detail in known.details)
        raise Refused(f"{known}{details}", known.status) from error
