"""The JSON API under /api/v1, one folder per subject."""

from __future__ import annotations

from web.api import accounts, campaigns, leaderboards, submissions

ROUTERS = (*accounts.ROUTERS, *campaigns.ROUTERS, *submissions.ROUTERS, *leaderboards.ROUTERS)
"""In the order of the OpenAPI document."""
