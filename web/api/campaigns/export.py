"""Export of a campaign."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from campaigns.export import export_campaign, safe_name
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["campaigns"])


@router.get(
    "/campaigns/{name}/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
            "description": "A zip with tables and texts.",
        }
    },
    name="export_campaign",
)
def download_campaign_export(request: Request, name: str, principal: CurrentPrincipal) -> StreamingResponse:
    """Download a zip of rules, phases, test sets, submissions, scores and outputs, as far as you may see them."""
    parts = export_campaign(app_state(request).engine, principal, name)
    headers = {"Content-Disposition": f'attachment; filename="{safe_name(name)}.zip"'}
    return StreamingResponse(parts, media_type="application/zip", headers=headers)
