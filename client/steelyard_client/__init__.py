"""Python client of a Steelyard server: `from steelyard_client import Client`. It needs neither a database nor a queue.

with Client("https://mt.example.org", token) as client:
    submission = client.submit("news 2026", "out.txt", team="harbour", system="tug")
    for progress in client.watch(submission.id):
        print(progress.state)
"""

from __future__ import annotations

from steelyard_client.client import UNCHANGED, Client
from steelyard_client.documents import (
    BoardScore,
    BoardSystem,
    Campaign,
    ComparedSystem,
    Comparisons,
    Evaluation,
    EvaluationFeedback,
    Finding,
    Interval,
    Leaderboard,
    LeaderboardSummary,
    Me,
    PairTest,
    Progress,
    Quota,
    Ranking,
    Score,
    Submission,
    TrialsProgress,
)
from steelyard_client.errors import (
    BadInput,
    ClientError,
    Conflict,
    Forbidden,
    NotFound,
    NotSignedIn,
    NotSteelyard,
    Refused,
    ServerUnreachable,
    TooLarge,
    TooMany,
    Unavailable,
)
from steelyard_client.transport import RetryPolicy, check_server_url

__all__ = [
    "UNCHANGED",
    "BadInput",
    "BoardScore",
    "BoardSystem",
    "Campaign",
    "Client",
    "ClientError",
    "ComparedSystem",
    "Comparisons",
    "Conflict",
    "Evaluation",
    "EvaluationFeedback",
    "Finding",
    "Forbidden",
    "Interval",
    "Leaderboard",
    "LeaderboardSummary",
    "Me",
    "NotFound",
    "NotSignedIn",
    "NotSteelyard",
    "PairTest",
    "Progress",
    "Quota",
    "Ranking",
    "Refused",
    "RetryPolicy",
    "Score",
    "ServerUnreachable",
    "Submission",
    "TooLarge",
    "TooMany",
    "TrialsProgress",
    "Unavailable",
    "check_server_url",
]
