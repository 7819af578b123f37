"""Quotas of a campaign or of all, and their use by teams."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from campaigns.changes import lock_for_change
from campaigns.permissions import read_access
from campaigns.quotas.organisers import (
    applicable_quotas,
    every_quota,
    remove_general_quota,
    remove_quota,
    set_general_quota,
    set_quota,
    team_quotas_in,
    visible_team_quotas,
)
from campaigns.quotas.quotas import TeamQuotas
from campaigns.quotas.rules import QuotaInfo
from campaigns.submissions.documents import quota_usage_response
from models.database.session import reading, writing
from models.schema.states import QuotaKind
from steelyard_client.documents.campaigns.quotas import (
    GeneralQuotaUpdate,
    QuotaResponse,
    QuotaUpdate,
    RefundResponse,
    TeamQuotasResponse,
)
from steelyard_client.documents.paging import Page
from web.api.paging import After, Limit, slice_page
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["quotas"])


@router.get("/quotas")
def list_quotas(
    request: Request, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[QuotaResponse]:
    """List all quotas of all campaigns, those for all campaigns first. For administrators."""
    with reading(app_state(request).engine) as connection:
        quotas = every_quota(connection, principal)
    found, following = slice_page(quotas, limit, after)
    return Page(items=[_quota_response(each) for each in found], next=following)


@router.put("/quotas", name="set_quota")
def set_quota_of_all(request: Request, new: GeneralQuotaUpdate, principal: CurrentPrincipal) -> QuotaResponse:
    """Set a quota that holds in each campaign that has none of its own. For administrators."""
    with writing(app_state(request).engine) as connection:
        return _quota_response(set_general_quota(connection, principal, new.kind, new.amount, new.time_zone))


@router.delete("/quotas/{kind}", status_code=204, name="delete_quota")
def delete_quota_of_all(request: Request, kind: QuotaKind, principal: CurrentPrincipal) -> Response:
    """Delete a quota that holds in each campaign. For administrators."""
    with writing(app_state(request).engine) as connection:
        remove_general_quota(connection, principal, kind)
    return Response(status_code=204)


@router.get("/campaigns/{name}/quotas")
def list_campaign_quotas(
    request: Request, name: str, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[QuotaResponse]:
    """List the quotas in force in a campaign. For organisers."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        access.require_organiser()
        quotas = applicable_quotas(connection, access)
    found, following = slice_page(quotas, limit, after)
    return Page(items=[_quota_response(each) for each in found], next=following)


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
def read_team_quotas(request: Request, name: str, team: str, principal: CurrentPrincipal) -> TeamQuotasResponse:
    """Read what a team has used of each kind of quota in a campaign. For its members and organisers."""
    with reading(app_state(request).engine) as connection:
        found = visible_team_quotas(connection, read_access(connection, principal, name), team)
    return _usage_response(found)


@router.get("/teams/{team}/quotas")
def list_team_quotas(
    request: Request, team: str, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[TeamQuotasResponse]:
    """List what a team has used of its quotas, by campaign. For its members and administrators."""
    with reading(app_state(request).engine) as connection:
        found = team_quotas_in(connection, principal, team)
    items, following = slice_page(found, limit, after)
    return Page(items=[_usage_response(each) for each in items], next=following)


def _quota_response(quota: QuotaInfo) -> QuotaResponse:
    return QuotaResponse(
        campaign=quota.campaign or None,
        team=quota.scope.team,
        phase=quota.scope.phase,
        kind=quota.kind,
        amount=quota.amount,
        time_zone=quota.time_zone,
    )


def _usage_response(found: TeamQuotas) -> TeamQuotasResponse:
    return TeamQuotasResponse(
        campaign=found.campaign,
        phase=found.phase,
        usage=[quota_usage_response(each) for each in found.usage],
        given_back=[RefundResponse(submission=each.submission_id, reason=each.reason) for each in found.given_back],
    )
