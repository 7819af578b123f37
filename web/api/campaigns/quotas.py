"""Quotas of a campaign, and their use by teams."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from campaigns.changes import lock_for_change
from campaigns.permissions import read_access
from campaigns.quotas.organisers import applicable_quotas, remove_quota, set_quota, visible_team_quotas
from campaigns.quotas.rules import QuotaInfo
from models.database.session import reading, writing
from models.schema.states import QuotaKind
from steelyard_client.documents.document import utc
from steelyard_client.documents.paging import Page
from steelyard_client.documents.quotas import QuotaResponse, QuotaUpdate, TeamQuotaUsageResponse
from web.api.paging import After, Limit, slice_page
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["quotas"])


@router.get("/campaigns/{name}/quotas")
def list_campaign_quotas(
    request: Request, name: str, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[QuotaResponse]:
    """List the quotas in force in a campaign. For organisers."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        access.require_organiser()
        quotas = applicable_quotas(connection, access)
    found, going_on = slice_page(quotas, limit, after)
    return Page(items=[_quota_response(each) for each in found], next=going_on)


@router.put("/campaigns/{name}/quotas")
def set_campaign_quota(
    request: Request, name: str, new: QuotaUpdate, principal: CurrentPrincipal
) -> list[QuotaResponse]:
    """Set a quota for a campaign, or for one of its teams or phases. Returns all quotas in force."""
    with writing(app_state(request).engine) as connection:
        access = lock_for_change(connection, principal, name)
        set_quota(connection, access, new.kind, new.amount, team=new.team, phase=new.phase, time_zone=new.time_zone)
        return [_quota_response(each) for each in applicable_quotas(connection, access)]


@router.delete("/campaigns/{name}/quotas/{kind}", status_code=204)
def delete_campaign_quota(
    request: Request,
    name: str,
    kind: QuotaKind,
    principal: CurrentPrincipal,
    team: Annotated[str, Query(max_length=100)] = "",
    phase: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """Delete a quota of a campaign, or of one of its teams or phases."""
    with writing(app_state(request).engine) as connection:
        remove_quota(connection, lock_for_change(connection, principal, name), kind, team=team, phase=phase)
    return Response(status_code=204)


@router.get("/campaigns/{name}/teams/{team}/quotas")
def list_team_quota_usage(
    request: Request, name: str, team: str, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[TeamQuotaUsageResponse]:
    """List a team's current use of each kind of quota. For its members and organisers."""
    with reading(app_state(request).engine) as connection:
        account = visible_team_quotas(connection, read_access(connection, principal, name), team)
    found, following = slice_page(account.usage, limit, after)
    items = [
        TeamQuotaUsageResponse(
            kind=each.kind,
            of_what=each.of_what,
            used=each.used,
            amount=each.amount,
            full=each.full,
            free_at=utc(each.free_at),
        )
        for each in found
    ]
    return Page(items=items, next=following)


def _quota_response(quota: QuotaInfo) -> QuotaResponse:
    return QuotaResponse(
        of="campaign" if quota.campaign else "everything",
        team=quota.scope.team,
        phase=quota.scope.phase,
        kind=quota.kind,
        amount=quota.amount,
        time_zone=quota.time_zone,
    )
