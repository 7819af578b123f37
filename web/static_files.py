"""Styles, scripts and the icon of pages, from memory.

Pages name them at an address that has a digest of the content, which browsers keep for good: what changes has another
address. Without a digest, or with one of another release, a browser asks each time whether its copy is still right.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import Request
from starlette.responses import Response

from web.etags import etag_of, not_modified

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Receive, Scope, Send

FOLDER = Path(__file__).parent / "static"
ROOT = "/static/"
TOGETHER = {"pages.css": ("report.css", "site.css")}
"""What pages load as one file, since a browser paints nothing until it has all styles."""
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
FOR_GOOD = "public, max-age=31536000, immutable"
ASK_AGAIN = "private, no-cache"
DIGITS = 12
_DIGEST = re.compile(rf"\.[0-9a-f]{{{DIGITS}}}(?=\.[a-z]+$)")


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file as it is sent."""

    content: bytes
    packed: bytes
    """Compressed by gzip."""
    address: str
    """With a digest of the content."""
    headers: Mapping[str, str]


@cache
def static_files() -> Mapping[str, StaticFile]:
    """All files by name."""
    content = {each.name: each.read_bytes() for each in FOLDER.iterdir() if each.suffix in MEDIA_TYPES}
    content |= {name: b"".join(content[part] for part in parts) for name, parts in TOGETHER.items()}
    return {name: _prepared(name, each) for name, each in content.items()}


def _prepared(name: str, content: bytes) -> StaticFile:
    stem, ending = Path(name).stem, Path(name).suffix
    digest = hashlib.sha256(content).hexdigest()[:DIGITS]
    headers = {"Content-Type": MEDIA_TYPES[ending], "ETag": etag_of(content), "Vary": "Accept-Encoding"}
    packed = gzip.compress(content, mtime=0)
    return StaticFile(content, packed, f"{ROOT}{stem}.{digest}{ending}", headers)


def address_of(name: str) -> str:
    """The address of a file that browsers may keep for good.

    Raises
    ------
    KeyError
        If there is no such file.
    """
    return static_files()[name].address


def drawn_icon() -> str:
    """The icon as SVG in a page, beside the name of the site: a picture of its own would be one more request."""
    icon = static_files()["icon.svg"].content.decode()
    return icon.replace("<svg ", '<svg width="22" height="22" aria-hidden="true" ', 1)


class StaticFiles:
    """Middleware that answers requests for these files; all others go on."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        asked = scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and scope["path"].startswith(ROOT)
        found = static_files().get(_DIGEST.sub("", scope["path"].removeprefix(ROOT))) if asked else None
        await (_response(Request(scope), found) if found else self.app)(scope, receive, send)


def _response(request: Request, file: StaticFile) -> Response:
    caching = {"Cache-Control": FOR_GOOD if request.scope["path"] == file.address else ASK_AGAIN}
    unchanged = not_modified(request, file.headers["ETag"])
    if unchanged:
        unchanged.headers.update(caching)
        return unchanged
    packed = "gzip" in request.headers.get("Accept-Encoding", "")
    content = file.packed if packed else file.content
    headers = {**file.headers, **caching, "Content-Length": str(len(content))}
    if packed:
        headers["Content-Encoding"] = "gzip"
    return Response(b"" if request.method == "HEAD" else content, headers=headers)
