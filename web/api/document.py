"""The base of all documents that the API takes and sends."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer, WithJsonSchema

EXAMPLES = Path(__file__).parent / "examples.json"
"""A request and an answer of each operation, written by `python -m tests.web.api.examples`."""


class Document(BaseModel):
    """A document of the API. The docstring of a field is its description in the OpenAPI document."""

    model_config = ConfigDict(use_attribute_docstrings=True)


def rfc3339(seconds: float) -> str:
    """A time in seconds since 1970 as RFC 3339 has it, in UTC to the microsecond."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


Timestamp = Annotated[
    float,
    PlainSerializer(rfc3339, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}, mode="serialization"),
]
"""A time: seconds since 1970 in Python, RFC 3339 in JSON."""
