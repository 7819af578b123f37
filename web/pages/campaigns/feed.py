"""Atom feeds (RFC 4287) of what has happened in campaigns."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from fastapi import APIRouter, Request, Response

from campaigns.corrections.corrections import list_corrections
from campaigns.invitations.email_texts import site_url
from campaigns.news import MOST, NewsEntry, news_of
from campaigns.permissions import read_access, visible_campaigns
from models.database.session import reading
from web.dependencies import CurrentPrincipal, app_state
from web.pages.rendering import part_of_address

if TYPE_CHECKING:
    from collections.abc import Sequence

router = APIRouter()

ATOM = "http://www.w3.org/2005/Atom"
MEDIA_TYPE = "application/atom+xml"


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
    feed = ElementTree.Element("feed", xmlns=ATOM)
    _add(feed, "id", f"{site}{path}/feed.xml")
    _add(feed, "title", f"{title} · Steelyard")
    _add(feed, "updated", _time(max((each.at for each in news), default=0.0)))
    ElementTree.SubElement(_add(feed, "author"), "name").text = "Steelyard"
    ElementTree.SubElement(feed, "link", rel="self", href=f"{site}{path}/feed.xml", type=MEDIA_TYPE)
    ElementTree.SubElement(feed, "link", href=f"{site}{path or '/'}")
    for each in news:
        campaign = f"{site}/campaigns/{part_of_address(each.campaign)}"
        entry = _add(feed, "entry")
        _add(entry, "id", f"{campaign}#{each.key}")
        _add(entry, "title", each.title)
        _add(entry, "updated", _time(each.at))
        _add(entry, "summary", each.text)
        ElementTree.SubElement(entry, "link", href=campaign)
    return Response(ElementTree.tostring(feed, "utf-8", xml_declaration=True), media_type=MEDIA_TYPE)


def _add(parent: ElementTree.Element, name: str, text: str = "") -> ElementTree.Element:
    made = ElementTree.SubElement(parent, name)
    if text:
        made.text = text
    return made


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
