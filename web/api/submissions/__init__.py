"""Submissions, their evaluations and their progress."""

from __future__ import annotations

from web.api.submissions import evaluations, events, submissions, systems

ROUTERS = (submissions.router, events.router, systems.router, evaluations.router)
