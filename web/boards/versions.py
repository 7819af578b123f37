"""Answers that have not changed are not sent again: ETag and If-None-Match."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from fastapi import Response

if TYPE_CHECKING:
    from fastapi import Request

    from web.boards.view import BoardView
    from web.life.sight import Sight


def version_of(view: BoardView, sight: Sight, *more: object) -> str:
    """What says that somebody would be shown the same again, as an ETag."""
    shown = (view.standing.stamp, view.standing.listed, view.wish, view.testing, view.fault)
    eyes = (sight.organises, sight.sees_names, sight.own_teams, [*sight.teams.values()], sight.frozen_at)
    return tag_of(repr((shown, eyes, more)).encode())


def tag_of(content: bytes) -> str:
    """An ETag for some content: weak, since what stands before it may compress it."""
    return f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'


def unchanged(request: Request, tag: str) -> Response | None:
    """The answer that says so, where whoever asks has this version already."""
    known = request.headers.get("If-None-Match", "")
    if tag in {each.strip() for each in known.split(",")}:
        return Response(status_code=304, headers={"ETag": tag})
    return None
