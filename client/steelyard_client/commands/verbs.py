"""The verbs of the client, as the command `steelyard` takes them."""

from __future__ import annotations

from functools import partial

from steelyard.commands.verbs import Verb, imported

FILES = {
    "campaign": (
        "create campaigns, manage their rules and teams; compare metrics with people",
        "campaigns.campaign",
    ),
    "phase": ("plan the phases of campaigns", "campaigns.phase"),
    "testset": ("add test sets to campaigns, release or correct their references", "campaigns.testset"),
    "submit": ("submit a system's output to a campaign", "submissions.submit"),
    "submission": ("withdraw a submission or change its declaration; cancel or repeat work", "submissions.submission"),
    "system": ("describe the systems of campaigns, show what they score, and cite them", "campaigns.system"),
    "user": ("create accounts and set their permissions", "accounts.user"),
    "token": ("create, list and revoke API tokens", "accounts.token"),
    "invitation": ("invite people to the server, to teams and to campaigns", "accounts.invitation"),
    "team": ("create teams and manage their members", "accounts.team"),
    "scores": ("import scores made elsewhere into campaigns; AutoRank", "campaigns.scores"),
    "quota": ("limit how many submissions a team may make", "campaigns.quota"),
    "schedule": ("list nightly schedules, and show their history", "campaigns.schedule"),
    "judgments": ("import human judgments, and rank systems by them", "human.judgments"),
    "status": ("show the queue, workers and failures", "queue.status"),
    "leaderboard": ("show the systems of campaigns, ranked", "leaderboards.leaderboard"),
    "compare": ("test systems against each other", "leaderboards.compare"),
    "verify": ("compute published scores again", "verify"),
    "notice": ("list what has happened in your campaigns, and choose which notices you get", "accounts.notice"),
    "login": ("store the API token for a server", "accounts.login"),
}
"""Nouns and verbs: their lines in the help, and the files that define them under their own names."""
VERBS = {
    name: Verb(line, partial(imported, f"steelyard_client.commands.{file}:{name}"))
    for name, (line, file) in FILES.items()
}
"""What the entry point of the group `steelyard.commands` leads to."""
