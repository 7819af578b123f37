"""Submitting an output, and what became of it."""

from __future__ import annotations

from web.pages.submissions import submissions, submit

ROUTERS = (submit.router, submissions.router)
