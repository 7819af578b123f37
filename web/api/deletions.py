"""What all deletions have in common: the question what would be deleted, and the response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import Query

from steelyard_client.documents.campaigns.deletions import DeletionResponse

if TYPE_CHECKING:
    from campaigns.deletion.counts import Deletion

DryRun = Annotated[bool, Query(description="Only say what would be deleted.")]
"""A parameter `dry_run: DryRun = False`."""


def deletion_response(found: Deletion, *, dry_run: bool) -> DeletionResponse:
    """The response for a deletion."""
    return DeletionResponse(
        subject=found.subject, deleted=not dry_run, removed=dict(found.removed), kept=list(found.kept)
    )
