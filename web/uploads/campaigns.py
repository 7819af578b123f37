"""Uploads of whole campaigns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import UploadFile
from fastapi.concurrency import run_in_threadpool

from campaigns.campaign_imports.reading import read_campaign_zip
from campaigns.campaign_imports.store import store_campaign_content
from campaigns.errors import Forbidden
from campaigns.previews import writing_unless_preview
from campaigns.sandbox.fair_queue import Owner
from campaigns.sandbox.limits import limits_of
from campaigns.sandbox.processes import scratch_folder
from campaigns.score_imports.reductions import reduce_now
from models.schema.roles import Scope

if TYPE_CHECKING:
    from campaigns.accounts.principal import Principal
    from steelyard_client.documents.campaigns.campaign_imports import CampaignImportedResponse
    from web.state import State

PART_BYTES = 1 << 20


async def import_sent_campaign(
    state: State, principal: Principal, name: str, file: UploadFile, *, preview: bool = False
) -> CampaignImportedResponse:
    """Read a zip in the sandbox and store the campaign in it under a name, all or nothing, or for a preview nothing.

    Raises
    ------
    Forbidden
        For those who may not create campaigns. And what `campaigns.sandbox`, `read_campaign_zip` and
        `store_campaign_content` raise.
    """
    principal.require(Scope.ORGANISE)
    if not principal.may_create_campaigns:
        raise Forbidden("Only organisers can create campaigns. Ask an administrator to make you one.")
    with scratch_folder() as place:
        path = place / "campaign.zip"
        with path.open("wb") as written:
            while part := await file.read(PART_BYTES):
                written.write(part)
        limits = limits_of(state.settings).text
        content = await state.sandbox.run(Owner(principal.account_id), read_campaign_zip, path, place, limits)

        def stored() -> CampaignImportedResponse:
            with writing_unless_preview(state.engine, preview=preview) as connection:
                found = store_campaign_content(connection, state.settings, principal, name, content)
            if preview:
                return found.model_copy(update={"stored": False})
            reduce_now(state.engine, state.settings, found.name)
            return found

        return await run_in_threadpool(stored)
