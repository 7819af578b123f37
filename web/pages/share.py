"""The pictures that are shown where somebody posts a link to a campaign or to a system."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Request, Response

from campaigns.errors import NotFound
from models.database.session import reading
from runtime.service_settings import site_url
from web.dependencies import app_state
from web.etags import etag_of, not_modified
from web.share.card import Card, has_card, read_campaign_card, read_system_card
from web.share.drawing import can_draw, draw_card

if TYPE_CHECKING:
    from campaigns.leaderboards.cache import LeaderboardCache
    from campaigns.permissions import CampaignAccess

router = APIRouter()

HEADERS = {"Cache-Control": "public, max-age=300", "Cross-Origin-Resource-Policy": "cross-origin"}
"""Everybody gets the same, and other sites show it."""
_ONE_AT_ONCE = threading.Lock()


@router.get("/campaigns/{name}/share.png")
def show_campaign_picture(request: Request, name: str) -> Response:
    """Draw a campaign as everybody sees it. Raises NotFound where there is no picture."""
    state = app_state(request)
    _require_packages()
    with reading(state.engine) as connection:
        card = read_campaign_card(connection, state.boards, name)
    return _answer(request, state.boards.memory, card)


@router.get("/campaigns/{name}/systems/{system}/share.png")
def show_system_picture(request: Request, name: str, system: Annotated[int, Path(ge=1, lt=2**63)]) -> Response:
    """Draw a system as everybody sees it. Raises NotFound where there is no picture."""
    state = app_state(request)
    _require_packages()
    with reading(state.engine) as connection:
        card = read_system_card(connection, state.boards, name, system)
    return _answer(request, state.boards.memory, card)


def picture_address(request: Request, access: CampaignAccess, path: str) -> str:
    """Return the address of the picture of a page, which `path` leads to; "" where there is none."""
    if not (can_draw() and has_card(access)):
        return ""
    return f"{site_url(app_state(request).settings)}{path}/share.png"


def _require_packages() -> None:
    if not can_draw():
        raise NotFound("This server draws no pictures.")


def _answer(request: Request, memory: LeaderboardCache, card: Card) -> Response:
    """Return the picture, drawn once for what it shows, one at a time."""
    tag = etag_of(repr(card).encode())
    if known := not_modified(request, tag):
        known.headers.update(HEADERS)
        return known
    key = "picture", card
    with _ONE_AT_ONCE:
        picture: bytes | None = memory.get(key)
        if picture is None:
            picture = draw_card(card)
            memory.put(key, picture, len(picture))
    return Response(picture, media_type="image/png", headers={**HEADERS, "ETag": tag})
