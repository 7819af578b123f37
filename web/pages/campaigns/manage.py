"""Campaign management for organisers: creation, state, rules, teams, members and quotas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from sqlalchemy import Connection, select

from campaigns.accounts.principal import Principal
from campaigns.changes import lock_for_change, version_of
from campaigns.corrections import list_corrections
from campaigns.errors import BadRequest, Forbidden, NotFound, NotSignedIn
from campaigns.measures import protocols_on, tokenizer_notices
from campaigns.participants import (
    campaign_members,
    join_with_team,
    leave_with_team,
    remove_from_campaign,
    set_campaign_role,
)
from campaigns.permissions import CampaignAccess, read_access
from campaigns.phases import close_now, publish_now
from campaigns.quotas.organisers import applicable_quotas, remove_quota, set_quota, teams_with_quotas
from campaigns.rules import Rules, create_campaign, set_frozen, set_rules
from campaigns.test_sets import list_campaign_test_sets
from models.database.session import reading, writing
from models.schema.accounts import AuditEntry
from models.schema.roles import CampaignRole, Joining, Scope, Visibility
from models.schema.states import QuotaKind
from web.dependencies import CurrentPrincipal, app_state
from web.pages.forms import InvalidForm, form_errors
from web.pages.rendering import page, part_of_address, see_other

router = APIRouter()

CHANGES_SHOWN = 30
QUOTA_WORDS = {
    QuotaKind.PER_DAY: "per day",
    QuotaKind.PER_PHASE: "per phase",
    QuotaKind.IN_FLIGHT: "in progress",
}
MESSAGES = {
    "rules": "Rules saved.",
    "phase": "Phases saved.",
    "test-set": "Test sets saved.",
    "correct": "References replaced. All current submissions are being scored again.",
    "freeze": "Campaign frozen.",
    "unfreeze": "Campaign unfrozen.",
    "close": "Phase closed.",
    "publish": "Results published.",
    "team": "Teams saved.",
    "invited": "Team invited. It participates once its lead has accepted on the page of the team.",
    "member": "Members saved.",
    "quota": "Quotas saved.",
}
"""Confirmation messages, by the `done` parameter of the address."""

Field = Annotated[str, Form(max_length=500)]


def organiser_access(connection: Connection, principal: Principal, name: str) -> CampaignAccess:
    """Return the access of an organiser to a campaign.

    Raises
    ------
    NotFound
        If there is no such campaign, or the account may not know of it.
    NotSignedIn, Forbidden
        If the account does not organise it.
    """
    access = read_access(connection, principal, name)
    if not principal.signed_in:
        raise NotSignedIn
    if not access.organises:
        raise Forbidden("Only organisers of this campaign can do that.")
    return access


@router.get("/new-campaign")
def show_new_campaign(request: Request, principal: CurrentPrincipal) -> Response:
    """Show the form to create a campaign."""
    _require_may_create(principal)
    return _new_campaign_page(request, {}, "", 200)


@router.post("/new-campaign")
def create_new_campaign(
    request: Request,
    principal: CurrentPrincipal,
    name: Field = "",
    title: Field = "",
    time_zone: Field = "UTC",
) -> Response:
    """Create a campaign."""
    _require_may_create(principal)
    try:
        with form_errors(), writing(app_state(request).engine) as connection:
            create_campaign(connection, principal, name.strip(), Rules(title=title, time_zone=time_zone.strip()))
    except InvalidForm as invalid:
        given = {"name": name, "title": title, "time_zone": time_zone}
        return _new_campaign_page(request, given, str(invalid), invalid.status)
    return see_other(f"/campaigns/{part_of_address(name.strip())}/manage")


@router.get("/campaigns/{name}/manage")
def show_management(request: Request, name: str, principal: CurrentPrincipal, done: str = "") -> Response:
    """Show the management page of a campaign."""
    return _management(request, principal, name, message=MESSAGES.get(done, ""))


@router.get("/campaigns/{name}/manage/rules")
def show_rules(request: Request, name: str, principal: CurrentPrincipal) -> Response:
    """Show the form of the rules."""
    with reading(app_state(request).engine) as connection:
        access = organiser_access(connection, principal, name)
        version = version_of(connection, access.campaign_id)
    return _rules(request, access, version)


@router.post("/campaigns/{name}/manage/rules")
def change_rules(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    title: Annotated[str, Form()] = "",
    description: Annotated[str, Form()] = "",
    time_zone: Field = "",
    visibility: Field = "",
    joining: Field = "",
    anonymous: Field = "",
    verified_only: Field = "",
    ranked_by: Field = "",
    version: Field = "*",
) -> Response:
    """Change the rules."""
    engine = app_state(request).engine
    given: dict[str, Any] = {
        "title": title,
        "description": description,
        "time_zone": time_zone.strip(),
        "visibility": visibility,
        "joining": joining,
        "anonymous": bool(anonymous),
        "verified_only": bool(verified_only),
        "ranked_by": ranked_by.strip(),
    }
    try:
        with form_errors(), writing(engine) as connection:
            access = lock_for_change(connection, principal, name, version)
            kinds = {
                "visibility": Visibility(visibility or access.visibility),
                "joining": Joining(joining or access.joining),
            }
            zone = {"time_zone": time_zone.strip() or access.time_zone}
            set_rules(connection, access, Rules(**{**given, **kinds, **zone}))
    except ValueError as error:
        raise BadRequest("Unknown value for visibility or participation.") from error
    except InvalidForm as invalid:
        with reading(engine) as connection:
            access = organiser_access(connection, principal, name)
            version = version_of(connection, access.campaign_id)
        return _rules(request, access, version, given, str(invalid), invalid.status)
    return _redirect(name, "rules")


@router.post("/campaigns/{name}/manage/state")
def change_state(
    request: Request, name: str, principal: CurrentPrincipal, do: Field, sure: Field = "", version: Field = "*"
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
            else:
                (close_now if do == "close" else publish_now)(connection, access)
    except InvalidForm as invalid:
        return _management(request, principal, name, error=str(invalid), where="state", status=invalid.status)
    return _redirect(name, do)


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
        return _management(request, principal, name, error=error, where="teams", given=given, status=invalid.status)
    return _redirect(name, "team" if joined else "invited", "teams")


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
        return _management(request, principal, name, error=error, where="members", given=given, status=invalid.status)
    return _redirect(name, "member", "members")


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
                set_quota(connection, access, kind, _amount(quota_amount), **whose)
    except InvalidForm as invalid:
        given = {"quota_amount": quota_amount, "quota_team": quota_team, "quota_phase": quota_phase}
        given |= {"quota_kind": quota_kind}
        error = str(invalid)
        return _management(request, principal, name, error=error, where="quotas", given=given, status=invalid.status)
    return _redirect(name, "quota", "quotas")


def _require_may_create(principal: Principal) -> None:
    principal.require(Scope.ORGANISE)
    if not principal.may_create_campaigns:
        raise Forbidden("Only organisers can create campaigns. Ask an administrator to make you one.")


def _redirect(name: str, done: str, anchor: str = "") -> Response:
    return see_other(f"/campaigns/{part_of_address(name)}/manage?done={done}{'#' + anchor if anchor else ''}")


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


def _new_campaign_page(request: Request, given: Mapping[str, str], error: str, status: int) -> Response:
    return page(
        request,
        "campaigns/new_campaign",
        status=status,
        title="Create a campaign",
        crumbs=[("Campaigns", "/")],
        given={"name": "", "title": "", "time_zone": "UTC", **given},
        error=error,
    )


def _rules(
    request: Request,
    access: CampaignAccess,
    version: str,
    given: Mapping[str, Any] | None = None,
    error: str = "",
    status: int = 200,
) -> Response:
    known = {name: getattr(access, name) for name in Rules.__dataclass_fields__}
    known["title"] = "" if access.title == access.name else access.title
    return page(
        request,
        "campaigns/manage_rules",
        status=status,
        title="Rules",
        access=access,
        here="manage",
        rules_version=version,
        given={**known, **(given or {})},
        error=error,
    )


def _management(
    request: Request,
    principal: Principal,
    name: str,
    *,
    error: str = "",
    where: str = "",
    given: Mapping[str, str] | None = None,
    message: str = "",
    status: int = 200,
) -> Response:
    with reading(app_state(request).engine) as connection:
        access = organiser_access(connection, principal, name)
        test_sets = list_campaign_test_sets(connection, access)
        measures = protocols_on(connection, access.campaign_id)
        members = campaign_members(connection, access.campaign_id)
        quotas = applicable_quotas(connection, access)
        quota_teams = teams_with_quotas(connection, access)
        corrections = list_corrections(connection, access)
        changes = connection.execute(
            select(AuditEntry.at, AuditEntry.actor, AuditEntry.action, AuditEntry.subject)
            .where(AuditEntry.campaign_id == access.campaign_id)
            .order_by(AuditEntry.id.desc())
            .limit(CHANGES_SHOWN)
        ).all()
        version = version_of(connection, access.campaign_id)
    blank = {"team": "", "member_email": "", "member_role": "viewer"}
    blank |= {"quota_amount": "", "quota_team": "", "quota_phase": "", "quota_kind": QuotaKind.PER_DAY}
    return page(
        request,
        "campaigns/manage",
        status=status,
        title="Manage",
        access=access,
        here="manage",
        rules_version=version,
        test_sets=test_sets,
        notices=[
            (known.title, notice)
            for known in test_sets
            if known.replaced_by is None
            for notice in tokenizer_notices(
                [each for each in measures if each.test_set_id == known.id], known.target_language
            )
        ],
        members=members,
        quotas=quotas,
        quota_words=QUOTA_WORDS,
        quota_teams=[("", "every team"), *((each, each) for each in quota_teams)],
        quota_phases=[("", "all phases"), *((each.name, each.name) for each in access.phases)],
        corrections=corrections,
        changes=changes,
        teams=sorted(access.teams.values(), key=lambda each: each.name.casefold()),
        given={**blank, **(given or {})},
        errors={where: error} if error else {},
        message=message,
    )
