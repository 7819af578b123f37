"""Campaign management for organisers: state, teams, members and quotas."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from sqlalchemy import Connection

from campaigns.accounts.principal import Principal
from campaigns.changes import lock_for_change
from campaigns.errors import BadRequest, NotFound
from campaigns.participants import (
    join_with_team,
    leave_with_team,
    remove_from_campaign,
    set_campaign_role,
)
from campaigns.permissions import CampaignAccess
from campaigns.phases import close_now
from campaigns.publication import publish_now
from campaigns.quotas.organisers import remove_quota, set_quota
from campaigns.quotas.quotas import check_known_phase, check_known_team
from campaigns.rules import set_frozen
from models.database.session import writing
from models.schema.roles import CampaignRole
from models.schema.states import QuotaKind
from web.dependencies import CurrentPrincipal, app_state
from web.pages.campaigns.manage_sections import management_page, organiser_access
from web.pages.forms import FieldReader, InvalidForm, form_errors
from web.pages.rendering import part_of_address, see_other

router = APIRouter()

Field = Annotated[str, Form(max_length=500)]


@router.post("/campaigns/{name}/manage/state")
def change_state(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    do: Field,
    sure: Field = "",
    delete_later: Field = "",
    version: Field = "*",
) -> Response:
    """Freeze or unfreeze the campaign, close the current phase, or publish the results."""
    try:
        with form_errors(), writing(app_state(request).engine) as connection:
            access = lock_for_change(connection, principal, name, version)
            if do in ("freeze", "unfreeze"):
                set_frozen(connection, access, do == "freeze")
            elif do not in ("close", "publish"):
                raise BadRequest("Unknown action.")
            elif not sure:
                raise BadRequest("Tick the box to confirm: everybody sees this change at once.")
            elif do == "close":
                close_now(connection, access)
            else:
                publish_now(connection, access, delete_later=bool(delete_later))
    except InvalidForm as invalid:
        where = "publish" if do == "publish" else "state"
        return management_page(request, principal, name, error=str(invalid), where=where, status=invalid.status)
    return _redirect(name, do, "results" if do == "publish" else "live")


@router.post("/campaigns/{name}/manage/teams")
def change_teams(request: Request, name: str, principal: CurrentPrincipal, team: Field, do: Field = "add") -> Response:
    """Invite a team to the campaign, or remove one."""
    joined = True
    try:
        with form_errors(), writing(app_state(request).engine) as connection:
            organiser_access(connection, principal, name).require_organiser()
            if do == "remove":
                leave_with_team(connection, principal, name, team)
            else:
                joined = _invite_team(connection, principal, name, team.strip())
    except InvalidForm as invalid:
        given = {"team": team if do == "add" else ""}
        error = str(invalid)
        return management_page(request, principal, name, error=error, where="teams", given=given, status=invalid.status)
    return _redirect(name, "team" if joined else "invited", "teams", "teams")


@router.post("/campaigns/{name}/manage/members")
def change_members(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    member_email: Field = "",
    member_role: Field = CampaignRole.VIEWER,
    account: Annotated[int, Form()] = 0,
    do: Field = "set",
) -> Response:
    """Make an account an organiser or a viewer of the campaign, or remove it."""
    try:
        with form_errors(), writing(app_state(request).engine) as connection:
            access = lock_for_change(connection, principal, name)
            if do == "remove":
                remove_from_campaign(connection, access, account)
            else:
                role = CampaignRole.ORGANISER if member_role == CampaignRole.ORGANISER else CampaignRole.VIEWER
                _set_member(connection, access, member_email, role)
    except InvalidForm as invalid:
        given = {"member_email": member_email, "member_role": member_role}
        error = str(invalid)
        return management_page(
            request, principal, name, error=error, where="members", given=given, status=invalid.status
        )
    return _redirect(name, "member", "teams", "members")


@router.post("/campaigns/{name}/manage/quotas")
def change_quotas(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    quota_kind: Field,
    quota_amount: Field = "",
    quota_team: Field = "",
    quota_phase: Field = "",
    do: Field = "set",
) -> Response:
    """Set a limit, or remove one."""
    try:
        with form_errors(), writing(app_state(request).engine) as connection:
            access = lock_for_change(connection, principal, name)
            if quota_kind not in {*QuotaKind}:
                raise BadRequest("Unknown kind of quota.")
            kind, whose = QuotaKind(quota_kind), {"team": quota_team.strip(), "phase": quota_phase.strip()}
            if do == "remove":
                remove_quota(connection, access, kind, **whose)
            else:
                form = FieldReader()
                amount = form.read("quota_amount", _amount, quota_amount)
                form.read("quota_team", check_known_team, connection, access.campaign_id, whose["team"])
                form.read("quota_phase", check_known_phase, connection, access.campaign_id, whose["phase"])
                form.finish()
                set_quota(connection, access, kind, amount, **whose)
    except InvalidForm as invalid:
        given = {"quota_amount": quota_amount, "quota_team": quota_team, "quota_phase": quota_phase}
        given |= {"quota_kind": quota_kind}
        return management_page(
            *(request, principal, name),
            error=str(invalid),
            where="quotas",
            fields=invalid.fields,
            given=given,
            status=invalid.status,
        )
    return _redirect(name, "quota", "teams", "quotas")


def _redirect(name: str, done: str, section: str = "", anchor: str = "") -> Response:
    page = f"/campaigns/{part_of_address(name)}/manage{'/' + section if section else ''}"
    return see_other(f"{page}?done={done}{'#' + anchor if anchor else ''}")


def _invite_team(connection: Connection, principal: Principal, name: str, team: str) -> bool:
    try:
        return join_with_team(connection, principal, name, team)
    except NotFound as error:
        raise BadRequest(str(error)) from error


def _set_member(connection: Connection, access: CampaignAccess, email: str, role: CampaignRole) -> None:
    try:
        set_campaign_role(connection, access, email, role)
    except NotFound as error:
        raise BadRequest(str(error)) from error


def _amount(text: str) -> int | None:
    text = text.strip()
    if text == "none":
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise BadRequest(f"{text[:20]!r} is not a number of submissions. Give 0 or more, or none for no limit.")
    return int(text)
