"""The base of all documents that the API takes and sends."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, overload

from pydantic import AwareDatetime, BaseModel, ConfigDict, WithJsonSchema


class Document(BaseModel):
    """A document of the API. The docstring of a field is its description in the OpenAPI document."""

    model_config = ConfigDict(use_attribute_docstrings=True)


Timestamp = Annotated[AwareDatetime, WithJsonSchema({"type": "string", "format": "date-time"})]
"""A time; RFC 3339 in JSON."""


@overload
def utc(seconds: float) -> datetime: ...
@overload
def utc(seconds: float | None) -> datetime | None: ...
def utc(seconds: float | None) -> datetime | None:
    """The time of seconds since 1970, in UTC to the microsecond; None for None."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
