"""Teams: the list, and the page of each with its members and invitations."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Request, Response

from campaigns.accounts.permissions import require_administrator
from campaigns.accounts.teams import (
    campaigns_of,
    change_team,
    create_team,
    leads_team,
    members_of,
    remove_from_team,
    set_member_role,
    team_for,
    teams_of,
)
from campaigns.deletion.teams import delete_team
from campaigns.errors import BadRequest, CampaignsError, Conflict, TooMany
from campaigns.invitations.invitations import list_invitations
from campaigns.invitations.send import invite_by_mail
from models.database.session import reading, writing
from models.schema.roles import Scope, SiteRole, TeamRole
from web.api.paging import LARGEST_ID, parse_cursor
from web.dependencies import CurrentPrincipal, app_state
from web.pages.accounts.session_cookie import NO_STORE, form_with_error
from web.pages.deletion import deletion_page
from web.pages.forms import InvalidForm, form_errors
from web.pages.rendering import page, part_of_address, see_other

router = APIRouter()

TITLE = "Teams"
SHOWN = 50
NOTES = {
    "changed": "Team saved.",
    "created": "Team created. You can invite its members now.",
    "deleted": "Team deleted.",
}

Team = Annotated[str, Path(max_length=200)]
AccountId = Annotated[int, Path(ge=1, le=LARGEST_ID)]


@router.get("/teams")
def show_teams(request: Request, principal: CurrentPrincipal, after: str = "", note: str = "") -> Response:
    """List the user's teams; administrators see all."""
    values = _teams(request, principal, after)
    return page(request, "accounts/teams", title=TITLE, note=NOTES.get(note, ""), **values)


@router.post("/teams")
def create(
    request: Request,
    principal: CurrentPrincipal,
    name: Annotated[str, Form()] = "",
    publication_name: Annotated[str, Form()] = "",
    affiliation: Annotated[str, Form()] = "",
) -> Response:
    """Create a team, with the user as its lead."""
    principal.require(Scope.ORGANISE)
    try:
        with writing(app_state(request).engine) as connection:
            made = create_team(connection, principal, name, publication_name=publication_name, affiliation=affiliation)
    except (BadRequest, Conflict) as error:
        given = {"name": name[:100], "publication_name": publication_name[:100], "affiliation": affiliation[:200]}
        return form_with_error(request, "accounts/teams", error, title=TITLE, **_teams(request, principal, **given))
    return see_other(f"/teams/{part_of_address(made.name)}?note=created")


@router.get("/teams/{team}")
def show_team(request: Request, principal: CurrentPrincipal, team: Team, note: str = "") -> Response:
    """Show a team to its members."""
    values = _team(request, principal, team, note=NOTES.get(note, ""))
    return page(request, "accounts/team", title=team, headers=NO_STORE, **values)


@router.post("/teams/{team}")
def change(
    request: Request,
    principal: CurrentPrincipal,
    team: Team,
    publication_name: Annotated[str, Form()] = "",
    affiliation: Annotated[str, Form()] = "",
) -> Response:
    """Change the public profile of a team."""
    principal.require(Scope.ORGANISE)
    try:
        with writing(app_state(request).engine) as connection:
            change_team(connection, principal, team, publication_name=publication_name, affiliation=affiliation)
    except (BadRequest, Conflict) as error:
        given = {"publication_name": publication_name[:100], "affiliation": affiliation[:200]}
        return form_with_error(
            request, "accounts/team", error, title=team, **_team(request, principal, team, "change", **given)
        )
    return see_other(f"/teams/{part_of_address(team)}?note=changed")


@router.get("/teams/{team}/delete")
def show_deletion(request: Request, principal: CurrentPrincipal, team: Team) -> Response:
    """Show administrators what deleting a team takes away, and ask for its name."""
    return _deletion(request, principal, team)


@router.post("/teams/{team}/delete")
def delete_whole_team(
    request: Request, principal: CurrentPrincipal, team: Team, typed: Annotated[str, Form(max_length=200)] = ""
) -> Response:
    """Delete a team with its submissions in all campaigns, if its name was typed."""
    try:
        with form_errors(), writing(app_state(request).engine, durable=True) as connection:
            require_administrator(principal)
            if typed.strip() != team:
                raise BadRequest(f"Type {team} to delete it.")
            delete_team(connection, principal, team, dry_run=False)
    except InvalidForm as invalid:
        return _deletion(request, principal, team, invalid)
    return see_other("/teams?note=deleted")


@router.post("/teams/{team}/members/{account_id}")
def change_member(
    request: Request, principal: CurrentPrincipal, team: Team, account_id: AccountId, do: Annotated[str, Form()] = ""
) -> Response:
    """Change the role of a member, or remove it; members can leave."""
    principal.require(Scope.ORGANISE)
    with writing(app_state(request).engine) as connection:
        if do == "remove":
            remove_from_team(connection, principal, team, account_id)
        elif do in {role.value for role in TeamRole}:
            set_member_role(connection, principal, team, account_id, TeamRole(do))
        else:
            raise BadRequest(f"Unknown action {do[:20]!r}: use lead, member or remove.")
    if do == "remove" and account_id == principal.account_id and not principal.administrates:
        return see_other("/teams")
    return see_other(f"/teams/{part_of_address(team)}?note=changed")


@router.post("/teams/{team}/invitations")
def invite_member(
    request: Request,
    principal: CurrentPrincipal,
    team: Team,
    email: Annotated[str, Form()] = "",
    role: Annotated[str, Form()] = TeamRole.MEMBER,
) -> Response:
    """Invite somebody, and show the link, once."""
    principal.require(Scope.ORGANISE)
    state = app_state(request)
    try:
        made = invite_by_mail(
            *(state.engine, state.settings, state.throttle, principal),
            email=email,
            role=SiteRole.PARTICIPANT,
            team=team,
            team_role=TeamRole.LEAD if role == TeamRole.LEAD else TeamRole.MEMBER,
            campaign="",
            campaign_role=None,
        )
    except (BadRequest, TooMany) as error:
        values = _team(request, principal, team, "invite", email=email[:254])
        return form_with_error(request, "accounts/team", error, title=team, **values)
    return page(request, "accounts/team", title=team, headers=NO_STORE, **_team(request, principal, team, made=made))


def _deletion(request: Request, principal: CurrentPrincipal, team: str, invalid: InvalidForm | None = None) -> Response:
    with writing(app_state(request).engine) as connection:
        found = delete_team(connection, principal, team, dry_run=True)
    back = f"/teams/{part_of_address(team)}"
    crumbs = [("Teams", "/teams"), (team, back)]
    return deletion_page(request, found, word=team, back=back, invalid=invalid, crumbs=crumbs)


def _teams(request: Request, principal: CurrentPrincipal, after: str = "", **given: str) -> dict[str, Any]:
    principal.require(Scope.READ)
    with reading(app_state(request).engine) as connection:
        found = teams_of(connection, principal, after=parse_cursor(after), limit=SHOWN)
    no_error: dict[str, CampaignsError | None] = {} if given else {"error": None}
    return {
        "teams": found[:SHOWN],
        "next": f"/teams?after={found[SHOWN - 1].id}" if len(found) > SHOWN else "",
        "may_create": principal.role != SiteRole.VIEWER,
        "given": given or {"name": "", "publication_name": "", "affiliation": ""},
        **no_error,
    }


def _team(
    request: Request, principal: CurrentPrincipal, team: str, failed_form: str = "", **given: Any
) -> dict[str, Any]:
    """Return the values of the template. `failed_form` names the form with an error."""
    principal.require(Scope.READ)
    with reading(app_state(request).engine) as connection:
        known = team_for(connection, principal, team)
        leads = leads_team(principal, team)
        invitations = list_invitations(connection, team_id=known.id, limit=SHOWN, open_only=True) if leads else []
        return {
            "team": known,
            "people": members_of(connection, known.id),
            "campaigns": campaigns_of(connection, known.id),
            "invitations": invitations[:SHOWN],
            "leads": leads,
            "failed_form": failed_form,
            "made": None,
            "note": "",
            "publication_name": known.publication_name,
            "affiliation": known.affiliation,
            "email": "",
            "crumbs": [("Teams", "/teams")],
            **({} if failed_form else {"error": None}),
            **given,
        }
