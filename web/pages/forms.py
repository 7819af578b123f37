"""Errors that a form shows beside its fields."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from campaigns.errors import CampaignsError, NotSignedIn
from models.errors import ModelsError
from scheduler.errors import SchedulerError
from steelyard.errors import MetricsError

FORM_ERROR_STATUSES = frozenset({409, 412, 413, 422})
"""Errors that the user can correct in the form; all others get an error page."""


class InvalidForm(Exception):
    """The input of a form is invalid."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@contextmanager
def form_errors() -> Iterator[None]:
    """Turn errors that the user can correct in the form into InvalidForm."""
    from web.error_mapping import as_campaigns_error

    try:
        yield
    except NotSignedIn:
        raise
    except (CampaignsError, SchedulerError, MetricsError, ModelsError) as error:
        mapped = as_campaigns_error(error)
        if mapped.status not in FORM_ERROR_STATUSES and not isinstance(error, ModelsError):
            raise
        details = "".join(f"\n{detail}" for detail in mapped.details)
        raise InvalidForm(f"{mapped}{details}", mapped.status) from error
