"""Everything of a campaign in one file."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from campaigns.export import export_campaign, safe_name
from web.dependencies import Asking, state_of

router = APIRouter(tags=["campaigns"])


@router.get(
    "/campaigns/{name}/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": {}}, "description": "A zip with tables and texts."}},
)
def export(request: Request, name: str, principal: Asking) -> StreamingResponse:
    """A zip with rules, phases, test sets, submissions, scores and outputs: all for organisers, else what is seen."""
    parts = export_campaign(state_of(request).engine, principal, name)
    headers = {"Content-Disposition": f'attachment; filename="{safe_name(name)}.zip"'}
    return StreamingResponse(parts, media_type="application/zip", headers=headers)
