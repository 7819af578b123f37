"""What organisers do with their campaigns: found them, and say what holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from sqlalchemy import Connection, select

from campaigns.accounts.principal import Principal
from campaigns.changes import lock_for_change, version_of
from campaigns.corrections import list_corrections
from campaigns.errors import BadRequest, Forbidden, NotSignedIn, NotThere
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
from web.pages.forms import Refused, filled_in
from web.pages.rendering import page, part_of_address, see_other

router = APIRouter()

CHANGES_SHOWN = 30
QUOTA_WORDS = {
    QuotaKind.PER_DAY: "per day",
    QuotaKind.PER_PHASE: "per phase",
    QuotaKind.IN_FLIGHT: "in flight",
}
SAID = {
    "rules": "The rules are changed.",
    "phase": "The phases are changed.",
    "test-set": "The test sets are changed.",
    "correct": "The references are corrected, and everything that stands is measured anew.",
    "freeze": "The campaign is frozen.",
    "unfreeze": "The campaign goes on.",
    "close": "The phase is closed.",
    "publish": "The results are published.",
    "team": "The teams are changed.",
    "invited": "The team is invited. It takes part once who leads it has accepted, on the page of the team.",
    "member": "The members are changed.",
    "quota": "The quotas are changed.",
}
"""By what an address says was done."""

Word = Annotated[str, Form(max_length=500)]


def organised(connection: Connection, principal: Principal, name: str) -> CampaignAccess:
    """A campaign before one of its organisers. Raises NotThere, NotSignedIn and Forbidden."""
    access = read_access(connection, principal, name)
    if not principal.signed_in:
        raise NotSignedIn
    if not access.organises:
        raise Forbidden("Only organisers of this campaign may do that.")
    return access


@router.get("/new-campaign")
def show_new_campaign(request: Request, principal: CurrentPrincipal) -> Response:
    """The form to found a campaign."""
    _require_founder(principal)
    return _founding(request, {}, "", 200)


@router.post("/new-campaign")
def create_new_campaign(
    request: Request,
    principal: CurrentPrincipal,
    name: Word = "",
    title: Word = "",
    time_zone: Word = "UTC",
) -> Response:
    """Found a campaign."""
    _require_founder(principal)
    try:
        with filled_in(), writing(app_state(request).engine) as connection:
            create_campaign(connection, principal, name.strip(), Rules(title=title, time_zone=time_zone.strip()))
    except Refused as refused:
        given = {"name": name, "title": title, "time_zone": time_zone}
        return _founding(request, given, str(refused), refused.status)
    return see_other(f"/campaigns/{part_of_address(name.strip())}/manage")


@router.get("/campaigns/{name}/manage")
def show_management(request: Request, name: str, principal: CurrentPrincipal, done: str = "") -> Response:
    """Everything that organisers look after."""
    return _management(request, principal, name, said=SAID.get(done, ""))


@router.get("/campaigns/{name}/manage/rules")
def show_rules(request: Request, name: str, principal: CurrentPrincipal) -> Response:
    """The form of the rules."""
    with reading(app_state(request).engine) as connection:
        access = organised(connection, principal, name)
        version = version_of(connection, access.campaign_id)
    return _rules(request, access, version)


@router.post("/campaigns/{name}/manage/rules")
def change_rules(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    title: Annotated[str, Form()] = "",
    description: Annotated[str, Form()] = "",
    time_zone: Word = "",
    visibility: Word = "",
    joining: Word = "",
    anonymous: Word = "",
    verified_only: Word = "",
    ranked_by: Word = "",
    version: Word = "*",
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
        with filled_in(), writing(engine) as connection:
            access = lock_for_change(connection, principal, name, version)
            kinds = {
                "visibility": Visibility(visibility or access.visibility),
                "joining": Joining(joining or access.joining),
            }
            zone = {"time_zone": time_zone.strip() or access.time_zone}
            set_rules(connection, access, Rules(**{**given, **kinds, **zone}))
    except ValueError as error:
        raise BadRequest("There is no such rule.") from error
    except Refused as refused:
        with reading(engine) as connection:
            access = organised(connection, principal, name)
            version = version_of(connection, access.campaign_id)
        return _rules(request, access, version, given, str(refused), refused.status)
    return _back(name, "rules")


@router.post("/campaigns/{name}/manage/state")
def change_state(
    request: Request, name: str, principal: CurrentPrincipal, do: Word, sure: Word = "", version: Word = "*"
) -> Response:
    """Freeze, let go on, close the phase of now, or publish."""
    try:
        with filled_in(), writing(app_state(request).engine) as connection:
            access = lock_for_change(connection, principal, name, version)
            if do in ("freeze", "unfreeze"):
                set_frozen(connection, access, do == "freeze")
            elif do not in ("close", "publish"):
                raise BadRequest("There is no such thing to do.")
            elif not sure:
                raise BadRequest("Tick the box to say that you are sure: this is seen by everybody at once.")
            else:
                (close_now if do == "close" else publish_now)(connection, access)
    except Refused as refused:
        return _management(request, principal, name, fault=str(refused), where="state", status=refused.status)
    return _back(name, do)


@router.post("/campaigns/{name}/manage/teams")
def change_teams(request: Request, name: str, principal: CurrentPrincipal, team: Word, do: Word = "add") -> Response:
    """Invite a team to take part, or let it take part no longer."""
    taken = True
    try:
        with filled_in(), writing(app_state(request).engine) as connection:
            organised(connection, principal, name).require_organiser()
            if do == "remove":
                leave_with_team(connection, principal, name, team)
            else:
                taken = _found_team(connection, principal, name, team.strip())
    except Refused as refused:
        given = {"team": team if do == "add" else ""}
        fault = str(refused)
        return _management(request, principal, name, fault=fault, where="teams", given=given, status=refused.status)
    return _back(name, "team" if taken else "invited", "teams")


@router.post("/campaigns/{name}/manage/members")
def change_members(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    member_email: Word = "",
    member_role: Word = CampaignRole.VIEWER,
    account: Annotated[int, Form()] = 0,
    do: Word = "set",
) -> Response:
    """Let an account organise the campaign or look at it, or be nothing in it."""
    try:
        with filled_in(), writing(app_state(request).engine) as connection:
            access = lock_for_change(connection, principal, name)
            if do == "remove":
                remove_from_campaign(connection, access, account)
            else:
                role = CampaignRole.ORGANISER if member_role == CampaignRole.ORGANISER else CampaignRole.VIEWER
                _set_member(connection, access, member_email, role)
    except Refused as refused:
        given = {"member_email": member_email, "member_role": member_role}
        fault = str(refused)
        return _management(request, principal, name, fault=fault, where="members", given=given, status=refused.status)
    return _back(name, "member", "members")


@router.post("/campaigns/{name}/manage/quotas")
def change_quotas(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    quota_kind: Word,
    quota_amount: Word = "",
    quota_team: Word = "",
    quota_phase: Word = "",
    do: Word = "set",
) -> Response:
    """Set a limit, or remove one."""
    try:
        with filled_in(), writing(app_state(request).engine) as connection:
            access = lock_for_change(connection, principal, name)
            if quota_kind not in {*QuotaKind}:
                raise BadRequest("There is no such quota.")
            kind, whose = QuotaKind(quota_kind), {"team": quota_team.strip(), "phase": quota_phase.strip()}
            if do == "remove":
                remove_quota(connection, access, kind, **whose)
            else:
                set_quota(connection, access, kind, _amount(quota_amount), **whose)
    except Refused as refused:
        given = {"quota_amount": quota_amount, "quota_team": quota_team, "quota_phase": quota_phase}
        given |= {"quota_kind": quota_kind}
        fault = str(refused)
        return _management(request, principal, name, fault=fault, where="quotas", given=given, status=refused.status)
    return _back(name, "quota", "quotas")


def _require_founder(principal: Principal) -> None:
    principal.require(Scope.ORGANISE)
    if not principal.may_create_campaigns:
        raise Forbidden("Only organisers set up campaigns. An administrator can make you one.")


def _back(name: str, done: str, anchor: str = "") -> Response:
    return see_other(f"/campaigns/{part_of_address(name)}/manage?done={done}{'#' + anchor if anchor else ''}")


def _found_team(connection: Connection, principal: Principal, name: str, team: str) -> bool:
    try:
        return join_with_team(connection, principal, name, team)
    except NotThere as error:
        raise BadRequest(str(error)) from error


def _set_member(connection: Connection, access: CampaignAccess, email: str, role: CampaignRole) -> None:
    try:
        set_campaign_role(connection, access, email, role)
    except NotThere as error:
        raise BadRequest(str(error)) from error


def _amount(written: str) -> int | None:
    written = written.strip()
    if written == "none":
        return None
    if not (written.isascii() and written.isdigit() and len(written) < 10):
        raise BadRequest(f"{written[:20]!r} is not a number of submissions. Give 0 or more, or none for no limit.")
    return int(written)


def _founding(request: Request, given: Mapping[str, str], fault: str, status: int) -> Response:
    return page(
        request,
        "campaigns/new_campaign",
        status=status,
        title="Found a campaign",
        crumbs=[("Campaigns", "/")],
        given={"name": "", "title": "", "time_zone": "UTC", **given},
        fault=fault,
    )


def _rules(
    request: Request,
    access: CampaignAccess,
    version: str,
    given: Mapping[str, Any] | None = None,
    fault: str = "",
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
        fault=fault,
    )


def _management(
    request: Request,
    principal: Principal,
    name: str,
    *,
    fault: str = "",
    where: str = "",
    given: Mapping[str, str] | None = None,
    said: str = "",
    status: int = 200,
) -> Response:
    with reading(app_state(request).engine) as connection:
        access = organised(connection, principal, name)
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
        faults={where: fault} if fault else {},
        said=said,
    )
