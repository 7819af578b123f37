"""What clients can do: one method for each operation of the API, by its name in the OpenAPI document."""

from __future__ import annotations

from steelyard_client.operations.accounts import AccountOperations
from steelyard_client.operations.campaigns import CampaignOperations
from steelyard_client.operations.imported_scores import ImportedScoresOperations
from steelyard_client.operations.inspection import InspectionOperations
from steelyard_client.operations.leaderboards import LeaderboardOperations
from steelyard_client.operations.notices import NoticeOperations
from steelyard_client.operations.submissions import SubmissionOperations
from steelyard_client.operations.test_sets import TestSetOperations


class Operations(
    AccountOperations,
    CampaignOperations,
    TestSetOperations,
    ImportedScoresOperations,
    SubmissionOperations,
    LeaderboardOperations,
    InspectionOperations,
    NoticeOperations,
):
    """All operations."""
