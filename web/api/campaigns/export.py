"""Export of a campaign."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from campaigns.errors import BadRequest
from campaigns.exports.archive import safe_name
from campaigns.exports.campaign import export_campaign
from campaigns.exports.mt_metrics_eval import export_mt_metrics_eval
from steelyard_client.vocabulary import ExportLayout
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["campaigns"])

MAX_TEST_SETS = 200


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
def download_campaign_export(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    layout: Annotated[ExportLayout, Query(description="How the zip is laid out.")] = ExportLayout.CAMPAIGN,
    test_set: Annotated[
        list[str], Query(max_length=MAX_TEST_SETS, description="Only these test sets; of the other layout.")
    ] = [],  # noqa: B006 - FastAPI copies it
) -> StreamingResponse:
    """Download a zip of rules, phases, test sets, submissions, scores and outputs, as far as you may see them.

    With `layout=mt-metrics-eval`, the folder that mt-metrics-eval reads: `documents/ sources/ references/
    system-outputs/ metric-scores/ human-scores/` of all language pairs.
    """
    engine = app_state(request).engine
    if layout == ExportLayout.MT_METRICS_EVAL:
        parts, called = export_mt_metrics_eval(engine, principal, name, test_set), safe_name(name, layout.value)
    elif test_set:
        raise BadRequest("An export of everything has all test sets. Choose some with layout=mt-metrics-eval.")
    else:
        parts, called = export_campaign(engine, principal, name), safe_name(name)
    headers = {"Content-Disposition": f'attachment; filename="{called}.zip"'}
    return StreamingResponse(parts, media_type="application/zip", headers=headers)
