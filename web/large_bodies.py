"""Marks for routes that take more than a form; the guards look for them (`web.guards.bodies`)."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar

Route = TypeVar("Route", bound=Callable[..., Any])
MARK = "takes_upload"


class Body(Enum):
    """What else than a form a route takes."""

    UPLOAD = "upload"
    PIECE = "piece"


def takes_upload(route: Route) -> Route:
    """Marks a route whose body may have `upload_bytes`, not only `form_bytes`; counted by `uploads_per_minute`.

    Below the router's own decorator: `@router.post(...)`, then `@takes_upload`, then `def`.
    """
    setattr(route, MARK, Body.UPLOAD)
    return route


def takes_piece(route: Route) -> Route:
    """As `takes_upload`, for pieces of an upload that was counted when it was announced."""
    setattr(route, MARK, Body.PIECE)
    return route
