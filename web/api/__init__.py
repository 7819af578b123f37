"""JSON for programs, under /api/v1: one file for each kind of thing."""

from __future__ import annotations

from web.api import me

ROUTERS = (me.router,)
"""In the order of the description."""
