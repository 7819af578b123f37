"""ETags: responses that have not changed are not sent again."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from fastapi import Response

if TYPE_CHECKING:
    from fastapi import Request

    from campaigns.leaderboards.view import BoardView
    from campaigns.permissions import CampaignAccess

_KEY = secrets.token_bytes(32)
"""Random per process. A tag hashes more than its reader may know, such as the names of anonymous teams; without the
key, a reader could guess names and compare tags."""

NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "Unchanged since the ETag in If-None-Match."}}
"""What routes declare that compare tags, as `responses`."""


def board_etag(view: BoardView, access: CampaignAccess, *more: object) -> str:
    """The ETag of a board view for one principal; `more` is whatever else the response depends on."""
    shown = (view.snapshot.version, view.snapshot.listed, view.query, view.testing, view.fault)
    return etag_of(_KEY + repr((shown, _visibility_key(access), more)).encode())


def _visibility_key(access: CampaignAccess) -> tuple[Hashable, ...]:
    """The part of an access that decides which names, links and reasons a board shows. Equal keys, equal responses."""
    return (
        *(access.organises, access.sees_names, access.sees_segments, access.published, bool(access.phases)),
        *(access.own_teams, *access.teams.values()),
    )


def etag_of(content: bytes) -> str:
    """The ETag of some content; weak, since a proxy may compress the content."""
    return f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'


def not_modified(request: Request, tag: str) -> Response | None:
    """A 304 response if the request's If-None-Match has this tag; else None."""
    sent = request.headers.get("If-None-Match", "")
    if tag in {each.strip() for each in sent.split(",")}:
        return Response(status_code=304, headers={"ETag": tag})
    return None
