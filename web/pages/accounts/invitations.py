"""Creating, listing and accepting invitations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, BackgroundTasks, Form, Path, Request, Response

from campaigns.accounts.sessions import create_session
from campaigns.errors import BadRequest, CampaignsError, Conflict, Forbidden, TooMany
from campaigns.invitations.email_texts import invited_to
from campaigns.invitations.invitations import SMALL_ROLES, InvitationInfo, accept_invitation, find_invitation
from campaigns.invitations.send import (
    InvitationResult,
    invite_by_mail,
    visible_invitations,
    withdraw_visible_invitation,
)
from campaigns.invitations.sign_up import send_confirmation, sign_up
from campaigns.permissions import read_access
from models.database.session import reading, writing
from models.schema.roles import CampaignRole, Scope, SiteRole, TeamRole
from runtime.service_settings import site_url
from web.api.paging import LARGEST_ID, parse_cursor
from web.dependencies import CurrentPrincipal, app_state, session_secret
from web.pages.accounts.session_cookie import NO_STORE, form_with_error, local_address, set_session_cookie
from web.pages.rendering import page, part_of_address, see_other

if TYPE_CHECKING:
    from campaigns.accounts.principal import Principal
    from web.state import State

router = APIRouter()

SHOWN = 50
MOST_AT_ONCE = 100
"""Addresses that are invited together."""
TITLE, INVITATION = "Invitations", "Invitation"
WITH_TEAM = "team"
"""Form value of an invitation to join a campaign with a team."""

Secret = Annotated[str, Path(max_length=200)]
Campaign = Annotated[str, Path(max_length=400)]


@router.get("/invitations")
def show_invitations(request: Request, principal: CurrentPrincipal, after: str = "") -> Response:
    """List the user's invitations; administrators see all."""
    return page(request, "accounts/invitations", title=TITLE, headers=NO_STORE, **_site(request, principal, after))


@router.post("/invitations")
def invite_to_site(
    request: Request,
    principal: CurrentPrincipal,
    email: Annotated[str, Form()] = "",
    role: Annotated[str, Form()] = SiteRole.PARTICIPANT,
) -> Response:
    """Invite somebody to create an account, and show the link, once."""
    principal.require(Scope.ORGANISE)
    state = app_state(request)
    try:
        if role not in {each.value for each in SiteRole}:
            raise BadRequest(f"Unknown role {role[:20]!r}.")
        made = invite_by_mail(
            *(state.engine, state.settings, state.throttle, principal),
            email=email,
            role=SiteRole(role),
            team="",
            team_role=TeamRole.MEMBER,
            campaign="",
            campaign_role=None,
        )
    except (BadRequest, TooMany) as error:
        values = _site(request, principal, given={"email": email[:254], "role": role})
        return form_with_error(request, "accounts/invitations", error, title=TITLE, **values)
    values = _site(request, principal, made=made)
    return page(request, "accounts/invitations", title=TITLE, headers=NO_STORE, **values)


@router.get("/campaigns/{campaign}/invitations")
def show_campaign_invitations(
    request: Request, principal: CurrentPrincipal, campaign: Campaign, after: str = ""
) -> Response:
    """List the invitations to a campaign. For its organisers."""
    values = _campaign(request, principal, campaign, after)
    return page(request, "accounts/invitations", title=TITLE, headers=NO_STORE, **values)


@router.post("/campaigns/{campaign}/invitations")
def invite_to_campaign(
    request: Request,
    principal: CurrentPrincipal,
    campaign: Campaign,
    email: Annotated[str, Form(max_length=30_000)] = "",
    role: Annotated[str, Form()] = WITH_TEAM,
) -> Response:
    """Invite people to a campaign, each by an invitation of their own: with a team, as organisers, or as viewers."""
    with reading(app_state(request).engine) as connection:
        read_access(connection, principal, campaign).require_organiser()
    state = app_state(request)
    try:
        if role not in {WITH_TEAM, *(each.value for each in CampaignRole)}:
            raise BadRequest(f"Unknown role {role[:20]!r}.")
        addresses = list(dict.fromkeys(re.split(r"[\s,;]+", email.strip())))
        if len(addresses) > MOST_AT_ONCE:
            raise BadRequest(f"{len(addresses):,} addresses are too many. Invite at most {MOST_AT_ONCE} at once.")
        made, refused = _invite_all(state, principal, campaign, addresses, role)
        if refused and not made:
            raise refused[0][1]
    except (BadRequest, TooMany) as error:
        values = _campaign(request, principal, campaign, given={"email": email[:30_000], "role": role})
        return form_with_error(request, "accounts/invitations", error, title=TITLE, **values)
    given = {"email": "\n".join(address for address, _ in refused), "role": role} if refused else None
    values = _campaign(request, principal, campaign, given=given, made=made[0] if len(addresses) == 1 else None)
    values |= {"several": made if len(addresses) > 1 else [], "refused": refused, "error": None}
    return page(request, "accounts/invitations", title=TITLE, headers=NO_STORE, **values)


def _invite_all(
    state: State, principal: Principal, campaign: str, addresses: list[str], role: str
) -> tuple[list[InvitationResult], list[tuple[str, BadRequest | TooMany]]]:
    """Invite each address by itself; the invitations, and the addresses that were refused with the reasons."""
    made: list[InvitationResult] = []
    refused: list[tuple[str, BadRequest | TooMany]] = []
    for address in addresses:
        try:
            made.append(
                invite_by_mail(
                    *(state.engine, state.settings, state.throttle, principal),
                    email=address,
                    role=SiteRole.VIEWER if role == CampaignRole.VIEWER else SiteRole.PARTICIPANT,
                    team="",
                    team_role=TeamRole.MEMBER,
                    campaign=campaign,
                    campaign_role=None if role == WITH_TEAM else CampaignRole(role),
                )
            )
        except (BadRequest, TooMany) as error:
            refused.append((address, error))
    return made, refused


@router.post("/invitations/{invitation_id}/withdraw")
def withdraw_one(
    request: Request,
    principal: CurrentPrincipal,
    invitation_id: Annotated[int, Path(ge=1, le=LARGEST_ID)],
    back: Annotated[str, Form()] = "",
) -> Response:
    """Withdraw an invitation."""
    principal.require(Scope.ORGANISE)
    with writing(app_state(request).engine) as connection:
        withdraw_visible_invitation(connection, principal, invitation_id)
    return see_other(local_address(back, "/invitations"))


@router.get("/invitations/{secret}")
def show_one(request: Request, principal: CurrentPrincipal, secret: Secret) -> Response:
    """Show an invitation and how to accept it. Opening the link does not use it up."""
    values = _one(request, principal, secret)
    return page(request, "accounts/invitation", title=INVITATION, headers=NO_STORE, error=None, **values)


@router.post("/invitations/{secret}")
def accept(
    request: Request,
    principal: CurrentPrincipal,
    secret: Secret,
    team: Annotated[str, Form()] = "",
    new_team: Annotated[str, Form()] = "",
) -> Response:
    """Accept with the signed-in account."""
    principal.require(Scope.ORGANISE)
    try:
        with writing(app_state(request).engine) as connection:
            known = accept_invitation(connection, principal, secret, team=team, new_team=new_team)
    except (BadRequest, Forbidden, Conflict) as error:
        values = _one(request, principal, secret) | {"team": team[:100], "new_team": new_team[:100]}
        return form_with_error(request, "accounts/invitation", error, title=INVITATION, **values)
    return see_other(_leads_to(known))


@router.post("/invitations/{secret}/sign-up")
def accept_as_new(
    request: Request,
    principal: CurrentPrincipal,
    secret: Secret,
    background: BackgroundTasks,
    email: Annotated[str, Form()] = "",
    name: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
    new_team: Annotated[str, Form()] = "",
) -> Response:
    """Create an account, and accept with it."""
    if principal.signed_in:
        return see_other(f"/invitations/{part_of_address(secret)}")
    state = app_state(request)
    with reading(state.engine) as connection:
        known = find_invitation(connection, secret)
    try:
        made = sign_up(
            state.engine,
            state.settings,
            state.throttle,
            principal,
            email=known.email or email,
            name=name,
            password=password,
            invitation=secret,
            new_team=new_team,
        )
    except CampaignsError as error:
        values = _one(request, principal, secret)
        values |= {"email": email[:254], "name": name[:100], "new_team": new_team[:100]}
        return form_with_error(request, "accounts/invitation", error, title=INVITATION, **values)
    if made.mail is not None:
        background.add_task(send_confirmation, state.engine, state.settings, made.mail, made.confirms)
    assert made.who is not None
    with writing(state.engine) as connection:
        begun = create_session(
            connection, made.who, state.settings.session_lifetime, instead_of=session_secret(request)
        )
    response = see_other(_leads_to(known))
    set_session_cookie(response, request, begun)
    return response


def _leads_to(known: InvitationInfo) -> str:
    if known.campaign is not None:
        return f"/campaigns/{part_of_address(known.campaign)}"
    return f"/teams/{part_of_address(known.team)}" if known.team is not None else "/"


def _one(request: Request, principal: CurrentPrincipal, secret: str) -> dict[str, Any]:
    with reading(app_state(request).engine) as connection:
        known = find_invitation(connection, secret)
    return {
        "invitation": known,
        "to": invited_to(known),
        "here_address": f"/invitations/{part_of_address(secret)}",
        "led": [name for name, role in principal.teams.items() if role == TeamRole.LEAD],
        "email": known.email,
        "name": "",
        "team": "",
        "new_team": "",
    }


def _site(
    request: Request,
    principal: CurrentPrincipal,
    after: str = "",
    *,
    given: dict[str, str] | None = None,
    made: Any = None,
) -> dict[str, Any]:
    principal.require(Scope.READ)
    if not principal.may_create_campaigns:
        raise Forbidden("You can only invite people to teams that you lead, on the page of the team.")
    with reading(app_state(request).engine) as connection:
        found = visible_invitations(connection, principal, before=parse_cursor(after), limit=SHOWN)
    roles = list(SiteRole) if principal.administrates else list(SMALL_ROLES)
    return _listed("/invitations", found, given, made) | {
        "roles": [(each.value, each.value) for each in reversed(roles)],
        "what": "somebody to create an account",
        "default": SiteRole.PARTICIPANT.value,
    }


def _campaign(
    request: Request,
    principal: CurrentPrincipal,
    campaign: str,
    after: str = "",
    *,
    given: dict[str, str] | None = None,
    made: Any = None,
) -> dict[str, Any]:
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, campaign)
        access.require_organiser()
        found = visible_invitations(connection, principal, campaign=campaign, before=parse_cursor(after), limit=SHOWN)
    roles = [(WITH_TEAM, "participate with a team"), ("organiser", "co-organise"), ("viewer", "view only")]
    return _listed(f"/campaigns/{part_of_address(campaign)}/invitations", found, given, made) | {
        "roles": roles,
        "what": "somebody to this campaign",
        "access": access,
        "here": "manage",
        "default": WITH_TEAM,
        "many": True,
        "about": f"{access.title}: {site_url(app_state(request).settings)}/campaigns/{part_of_address(campaign)}",
    }


def _listed(address: str, found: list[InvitationInfo], given: dict[str, str] | None, made: Any) -> dict[str, Any]:
    return {
        "address": address,
        "invitations": [(each, invited_to(each)) for each in found[:SHOWN]],
        "next": f"{address}?after={found[SHOWN - 1].id}" if len(found) > SHOWN else "",
        "given": given,
        "made": made,
        "several": [],
        "refused": [],
        "many": False,
        "about": "",
        **({} if given else {"error": None}),
    }
