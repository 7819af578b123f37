"""Why an evaluation has no scores, as far as it may be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.schema.states import EvaluationState, Fault

if TYPE_CHECKING:
    from campaigns.permissions import Sight


def told_reason(sight: Sight, test_set_id: int, state: str, reason: str | None, fault: str | None) -> str | None:
    """Why an evaluation has no scores, as far as it may be told.

    Faults of the platform name hosts and folders, and those of metrics may quote a text, that of a blind reference
    included: organisers read them as they are. Who cancels something writes the reason for those whose it is.
    """
    if reason is None or sight.organises or state == EvaluationState.CANCELLED:
        return reason
    if fault != Fault.INPUT:
        return "The server failed to measure it, which does not count against the quota. Its organisers see why."
    if sight.sees_references(test_set_id):
        return reason
    return "The metrics cannot measure this text. The organisers of the campaign see why."
