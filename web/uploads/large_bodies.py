"""Marks routes that accept large bodies; `web.guards.bodies` and `web.guards.rate_limit` read the mark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Route = TypeVar("Route", bound=Callable[..., Any])
MARK = "accepts_upload"


def accepts_upload(route: Route) -> Route:
    """Mark a route whose body may have `upload_bytes` instead of `form_bytes`; limited by `uploads_per_minute`.

    Use it below the router's decorator: `@router.post(...)`, then `@accepts_upload`, then `def`.
    """
    setattr(route, MARK, True)
    return route


def is_upload(endpoint: object) -> bool:
    """Whether a route accepts uploads."""
    return getattr(endpoint, MARK, False) is True
