"""The routes of all pages."""

from __future__ import annotations

from web.pages import about, accounts, campaigns, documentation, leaderboards, queue, submissions

ROUTERS = (
    *campaigns.ROUTERS,
    *leaderboards.ROUTERS,
    *accounts.ROUTERS,
    queue.router,
    about.router,
    documentation.router,
    *submissions.ROUTERS,
)
