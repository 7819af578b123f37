"""JSON for programs, under /api/v1: one file for each kind of thing."""

from __future__ import annotations

from web.api import human, me, segments

ROUTERS = (me.router, segments.router, human.router)
"""In the order of the description."""
