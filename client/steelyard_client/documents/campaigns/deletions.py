"""What is deleted, or would be."""

from __future__ import annotations

from steelyard_client.documents.document import Document


class DeletionResponse(Document):
    """What a deletion takes away, and what stays."""

    subject: str
    """What it is about, such as "campaign wmt26"."""
    deleted: bool
    """Whether it is deleted; false where it was only asked what would be."""
    removed: dict[str, int]
    """How many of what are taken away, by words in the plural."""
    kept: list[str]
    """Sentences about what stays."""
