"""A mark for routes that take more than a form; the guards look for it (`web.guards.bodies`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Route = TypeVar("Route", bound=Callable[..., Any])
MARK = "takes_upload"


def takes_upload(route: Route) -> Route:
    """Marks a route whose body may have `upload_bytes`, not only `form_bytes`; counted by `uploads_per_minute`.

    Below the router's own decorator: `@router.post(...)`, then `@takes_upload`, then `def`.
    """
    setattr(route, MARK, True)
    return route


def is_upload(endpoint: object) -> bool:
    """Whether a route is marked so."""
    return getattr(endpoint, MARK, False) is True
