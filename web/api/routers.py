"""Which file has which routes: a server includes all of them, a command those that it needs.

Importing all of them takes a second of CPU time, as long as twenty commands.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import APIRouter

FILES = {
    "me": "accounts.me",
    "account": "accounts.account",
    "notices": "accounts.notices",
    "tokens": "accounts.tokens",
    "accounts/*/tokens": "accounts.tokens",
    "teams": "accounts.teams",
    "teams/*/quotas": "campaigns.quotas",
    "invitations": "accounts.invitations",
    "accounts": "accounts.accounts",
    "audit": "accounts.audit",
    "campaigns/*/audit": "accounts.audit",
    "campaigns": "campaigns.campaigns",
    "campaigns/*/clone": "campaigns.past",
    "archive": "campaigns.past",
    "campaigns/*/phases": "campaigns.phases",
    "campaigns/*/test-sets": "campaigns.test_sets",
    "campaigns/*/teams": "campaigns.teams",
    "campaigns/*/members": "campaigns.teams",
    "campaigns/*/teams/*/quotas": "campaigns.quotas",
    "campaigns/*/quotas": "campaigns.quotas",
    "quotas": "campaigns.quotas",
    "campaigns/*/announcements": "campaigns.announcements",
    "campaigns/*/corrections": "campaigns.corrections",
    "campaigns/*/export": "campaigns.export",
    "campaigns/*/import": "campaigns.imports",
    "campaigns/*/human-scores": "campaigns.judgments",
    "campaigns/*/correlations": "campaigns.correlations",
    "campaigns/*/judgment-tasks": "campaigns.judgment_tasks",
    "campaigns/*/scores": "campaigns.scores",
    "campaigns/*/autorank": "campaigns.scores",
    "nightly": "campaigns.nightly",
    "submissions": "submissions.submissions",
    "campaigns/*/submissions": "submissions.submissions",
    "campaigns/*/outputs": "submissions.outputs",
    "campaigns/*/checks": "submissions.submissions",
    "submissions/*/events": "submissions.events",
    "campaigns/*/systems": "submissions.systems",
    "campaigns/*/citation": "submissions.systems",
    "evaluations": "submissions.evaluations",
    "queue": "submissions.queue",
    "campaigns/*/leaderboards": "leaderboards.leaderboards",
    "campaigns/*/leaderboard": "leaderboards.leaderboards",
    "campaigns/*/matrix": "leaderboards.matrix",
    "campaigns/*/metrics-task": "leaderboards.metrics_task",
    "campaigns/*/breakdown": "leaderboards.breakdown",
    "campaigns/*/human-ranking": "leaderboards.leaderboards",
    "campaigns/*/comparisons": "leaderboards.comparisons",
    "campaigns/*/segments": "leaderboards.segments",
    "campaigns/*/ngrams": "leaderboards.ngrams",
}
"""How a path below /api/v1 begins -> the file with its routes; the longest one applies. In the order of the OpenAPI
document."""


def all_routers() -> list[APIRouter]:
    """The routers of the whole API."""
    return [router_of(file) for file in dict.fromkeys(FILES.values())]


def file_for(path: str) -> str | None:
    """The file that has the routes of a path below /api/v1; None for a path that there is not."""
    parts = path.strip("/").split("/")
    # A name may be anything, so only the places of names are looked at.
    shape = [part if place % 2 == 0 else "*" for place, part in enumerate(parts)]
    for length in range(len(shape), 0, -1):
        if file := FILES.get("/".join(shape[:length])):
            return file
    return None


def router_of(file: str) -> APIRouter:
    """The router in a file."""
    router: APIRouter = import_module(f"web.api.{file}").router
    return router
