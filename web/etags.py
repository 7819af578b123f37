"""Answers that have not changed are not sent again: ETag and If-None-Match."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Hashable
from typing import TYPE_CHECKING

from fastapi import Response

if TYPE_CHECKING:
    from fastapi import Request

    from campaigns.leaderboards.view import BoardView
    from campaigns.permissions import Sight

_KEY = secrets.token_bytes(32)
"""Of this process. What a version is made of is more than its reader may know, such as the names of anonymous teams:
without the key he could try which names give the version that he was told."""


def version_of(view: BoardView, sight: Sight, *more: object) -> str:
    """What says that somebody would be shown the same again, as an ETag."""
    shown = (view.standing.stamp, view.standing.listed, view.wish, view.testing, view.fault)
    return tag_of(_KEY + repr((shown, _eyes(sight), more)).encode())


def _eyes(sight: Sight) -> tuple[Hashable, ...]:
    """What of a sight decides which names, links and reasons a board shows. Who has the same eyes sees the same."""
    return (
        *(sight.organises, sight.sees_names, sight.sees_segments, sight.published, bool(sight.phases)),
        *(sight.own_teams, *sight.teams.values()),
    )


def tag_of(content: bytes) -> str:
    """An ETag for some content: weak, since what stands before it may compress it."""
    return f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'


def unchanged(request: Request, tag: str) -> Response | None:
    """The answer that says so, where whoever asks has this version already."""
    known = request.headers.get("If-None-Match", "")
    if tag in {each.strip() for each in known.split(",")}:
        return Response(status_code=304, headers={"ETag": tag})
    return None
