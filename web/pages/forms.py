"""Errors that a form shows beside its fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from campaigns.errors import CampaignsError, NotSignedIn
from models.errors import ModelsError
from scheduler.errors import SchedulerError
from steelyard.errors import MetricsError

FORM_ERROR_STATUSES = frozenset({409, 412, 413, 422})
"""Errors that the user can correct in the form; all others get an error page."""


Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")


class InvalidForm(Exception):
    """The input of a form is invalid: as a whole, or in some fields."""

    def __init__(self, message: str, status: int, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.fields = dict(fields or {})
        """Field -> what is wrong with it."""


@dataclass
class FieldReader:
    """Reads the fields of a form, and remembers everything that is wrong, so that a form says it all at once."""

    errors: dict[str, str] = field(default_factory=dict)

    def read(
        self,
        name: str,
        function: Callable[Arguments, Value],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Value | None:
        """Return what the function makes of a field; None if that is wrong."""
        try:
            return function(*args, **kwargs)
        except (CampaignsError, SchedulerError, MetricsError) as error:
            self.errors.setdefault(name, str(error))
            return None

    def wrong(self, name: str, message: str) -> None:
        """Remember that a field is wrong."""
        self.errors.setdefault(name, message)

    def finish(self) -> None:
        """Raise InvalidForm if anything was wrong."""
        if self.errors:
            raise InvalidForm("Some fields are missing or invalid; see below.", 422, self.errors)


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
