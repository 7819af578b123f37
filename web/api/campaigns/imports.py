"""Import of whole campaigns."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, File, Form, Request, Response, UploadFile

from steelyard_client.documents.campaigns.campaign_imports import CampaignImportedResponse
from web.dependencies import CurrentPrincipal, app_state
from web.uploads.campaigns import import_sent_campaign
from web.uploads.large_bodies import accepts_upload

router = APIRouter(tags=["campaigns"])


@router.post("/campaigns/{name}/import", status_code=201)
@accepts_upload
async def import_campaign(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    file: Annotated[UploadFile, File()],
    response: Response,
    preview: Annotated[bool, Form()] = False,
) -> CampaignImportedResponse:
    """Create a campaign from a zip: an export of this or another server, or a folder of language pairs.

    Everything in an export comes back but accounts, members and the audit log; scores are computed again from the
    texts. A folder of pairs is laid out as WMT and mt-metrics-eval do, with `metric-scores/` and `human-scores/`. An
    export that was changed, and one of a newer release, are refused; nothing is stored in part. With `preview` nothing
    is stored at all, and the status is 200: the response says what would be stored of each test set. For those who may
    create campaigns.
    """
    if preview:
        response.status_code = 200
    return await import_sent_campaign(app_state(request), principal, name, file, preview=preview)
