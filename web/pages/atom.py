"""Atom feeds (RFC 4287)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from fastapi import Response

if TYPE_CHECKING:
    from collections.abc import Sequence

ATOM = "http://www.w3.org/2005/Atom"
MEDIA_TYPE = "application/atom+xml"


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """An entry of a feed."""

    id: str
    title: str
    text: str
    at: float
    link: str


def atom_feed(identity: str, page: str, title: str, entries: Sequence[FeedEntry], own: str = "") -> Response:
    """Return a feed about a page; `own` is its own address, which secret ones do not tell."""
    feed = ElementTree.Element("feed", xmlns=ATOM)
    _add(feed, "id", identity)
    _add(feed, "title", f"{title} · Steelyard")
    _add(feed, "updated", _time(max((each.at for each in entries), default=0.0)))
    ElementTree.SubElement(_add(feed, "author"), "name").text = "Steelyard"
    if own:
        ElementTree.SubElement(feed, "link", rel="self", href=own, type=MEDIA_TYPE)
    ElementTree.SubElement(feed, "link", href=page)
    for each in entries:
        entry = _add(feed, "entry")
        _add(entry, "id", each.id)
        _add(entry, "title", each.title)
        _add(entry, "updated", _time(each.at))
        _add(entry, "summary", each.text)
        ElementTree.SubElement(entry, "link", href=each.link)
    return Response(ElementTree.tostring(feed, "utf-8", xml_declaration=True), media_type=MEDIA_TYPE)


def _add(parent: ElementTree.Element, name: str, text: str = "") -> ElementTree.Element:
    made = ElementTree.SubElement(parent, name)
    if text:
        made.text = text
    return made


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
