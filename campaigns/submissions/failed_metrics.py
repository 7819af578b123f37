"""What a submission's page says of metrics that failed while the others have their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.results.learned_columns import read_failed_metrics
from models.schema.states import EvaluationState

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.permissions import CampaignAccess
    from campaigns.submissions.views import SubmissionView


def failed_metrics(connection: Connection, access: CampaignAccess, submission: SubmissionView) -> list[str]:
    """Return a sentence for each metric that failed; the reason, which may quote a reference, is for organisers."""
    done = [each.id for each in submission.evaluations if each.state == EvaluationState.DONE]
    failed = [each for found in read_failed_metrics(connection, done).values() for each in found]
    said = (
        f"{each.title} failed: {each.reason}" if access.organises else f"{each.title} failed. The organisers see why."
        for each in failed
    )
    return list(dict.fromkeys(said))
