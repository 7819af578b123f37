"""HTML pages, rendered on the server and usable without JavaScript: a folder for each subject."""

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
