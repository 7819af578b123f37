"""JSON for programs, under /api/v1: one file for each kind of thing."""

from __future__ import annotations

from web.api import me, segments

ROUTERS = (me.router, segments.router)
"""In the order of the description."""
