"""The routes of all pages."""

from __future__ import annotations

from web.pages import about, accounts, campaigns, documentation, leaderboards, live, queue, share, submissions

ROUTERS = (
    *campaigns.ROUTERS,
    *leaderboards.ROUTERS,
    *accounts.ROUTERS,
    queue.router,
    live.router,
    share.router,
    about.router,
    documentation.router,
    *submissions.ROUTERS,
)
