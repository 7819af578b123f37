"""Atom feeds (RFC 4287) of what has happened in campaigns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from campaigns.corrections.corrections import list_corrections
from campaigns.news import MOST, NewsEntry, news_of
from campaigns.permissions import read_access, visible_campaigns
from models.database.session import reading
from runtime.service_settings import site_url
from web.dependencies import CurrentPrincipal, app_state
from web.pages.atom import FeedEntry, atom_feed
from web.pages.rendering import part_of_address

if TYPE_CHECKING:
    from collections.abc import Sequence

router = APIRouter()


@router.get("/feed.xml")
def show_feed(request: Request, principal: CurrentPrincipal) -> Response:
    """Show what has happened in all visible campaigns."""
    with reading(app_state(request).engine) as connection:
        news = news_of(visible_campaigns(connection, principal))
    return _feed(request, "", "Campaigns", news)


@router.get("/campaigns/{name}/feed.xml")
def show_campaign_feed(request: Request, name: str, principal: CurrentPrincipal) -> Response:
    """Show what has happened in a campaign."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        news = news_of([access], list_corrections(connection, access, limit=MOST))
    return _feed(request, f"/campaigns/{part_of_address(name)}", access.title, news)


def _feed(request: Request, path: str, title: str, news: Sequence[NewsEntry]) -> Response:
    site = site_url(app_state(request).settings)
    entries = []
    for each in news:
        campaign = f"{site}/campaigns/{part_of_address(each.campaign)}"
        entries.append(FeedEntry(f"{campaign}#{each.key}", each.title, each.text, each.at, campaign))
    own = f"{site}{path}/feed.xml"
    return atom_feed(own, f"{site}{path or '/'}", title, entries, own)
