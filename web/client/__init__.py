"""A Steelyard server from Python: `from web.client import Client`. It needs neither a database nor a queue.

with Client("https://mt.example.org", token) as client:
    submission = client.submit("news 2026", "out.txt", team="harbour", system="tug")
    for progress in client.watch(submission.id):
        print(progress.state)
"""

from __future__ import annotations

from web.client.answers import (
    BoardListed,
    BoardScore,
    BoardSystem,
    Campaign,
    ComparedSystem,
    Comparisons,
    Evaluation,
    Finding,
    Interval,
    Leaderboard,
    Me,
    PairTest,
    Progress,
    Quota,
    Ranking,
    Score,
    Submission,
    ToldEvaluation,
    Trying,
)
from web.client.client import UNCHANGED, Client
from web.client.errors import (
    BadInput,
    ClientError,
    Conflict,
    Forbidden,
    NotSignedIn,
    NotSteelyard,
    NotThere,
    Refused,
    ServerAway,
    TooLarge,
    TooMany,
    Unavailable,
)
from web.client.transport import Patience, checked_server

__all__ = [
    "UNCHANGED",
    "BadInput",
    "BoardListed",
    "BoardScore",
    "BoardSystem",
    "Campaign",
    "Client",
    "ClientError",
    "ComparedSystem",
    "Comparisons",
    "Conflict",
    "Evaluation",
    "Finding",
    "Forbidden",
    "Interval",
    "Leaderboard",
    "Me",
    "NotSignedIn",
    "NotSteelyard",
    "NotThere",
    "PairTest",
    "Patience",
    "Progress",
    "Quota",
    "Ranking",
    "Refused",
    "Score",
    "ServerAway",
    "Submission",
    "ToldEvaluation",
    "TooLarge",
    "TooMany",
    "Trying",
    "Unavailable",
    "checked_server",
]
