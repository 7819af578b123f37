"""Why an evaluation has no scores, as far as each reader may know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.schema.states import EvaluationState, Fault

if TYPE_CHECKING:
    from campaigns.permissions import CampaignAccess


def public_reason(
    access: CampaignAccess, test_set_id: int, state: str, reason: str | None, fault: str | None
) -> str | None:
    """Return why an evaluation has no scores, as far as this access allows.

    Platform errors name hosts and folders, and those of metrics may quote a text, even a hidden reference: only
    organisers read them in full. The reason for a cancellation is written for the team.
    """
    if reason is None or access.organises or state == EvaluationState.CANCELLED:
        return reason
    if fault != Fault.INPUT:
        return "The server failed to score it; this does not count against the quota. The organisers see the reason."
    if access.sees_references(test_set_id):
        return reason
    return "The metrics cannot score this text. The organisers of the campaign see the reason."
