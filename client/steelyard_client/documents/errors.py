"""What the API sends where a request fails."""

from __future__ import annotations

from steelyard_client.documents.document import Document


class ErrorDescription(Document):
    """What is wrong, where, and what to do."""

    code: str
    """For programs; it stays the same while messages may change."""
    message: str
    """For people."""
    details: list[str]
    """One for each problem, if there are several."""


class ErrorResponse(Document):
    """The content of all responses with a status of 400 or more."""

    error: ErrorDescription
    """The error."""
