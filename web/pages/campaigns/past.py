"""The archive of past campaigns, and the form that clones one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response

from campaigns.cloning import CloneRequest, clone_campaign
from campaigns.errors import NotSignedIn
from campaigns.fields.times import parse_local_time
from campaigns.past_campaigns import list_past_campaigns
from campaigns.permissions import read_access
from models.database.session import reading, writing
from web.dependencies import CurrentPrincipal, app_state
from web.pages.campaigns.manage_sections import management_page
from web.pages.forms import InvalidForm, form_errors
from web.pages.rendering import page, part_of_address, see_other

router = APIRouter()

SHOWN = 20
"""Campaigns on a page."""


@router.get("/archive")
def show_archive(
    request: Request, principal: CurrentPrincipal, after: Annotated[int | None, Query(ge=1, lt=2**63)] = None
) -> Response:
    """Show campaigns with published results, newest first."""
    state = app_state(request)
    with reading(state.engine) as connection:
        found, following = list_past_campaigns(connection, state.boards, principal, limit=SHOWN, after=after)
    years = sorted({each.year for each in found}, reverse=True)
    return page(
        request,
        "campaigns/archive",
        title="Archive",
        years=[(year, [each for each in found if each.year == year]) for year in years],
        following=following,
    )


@router.post("/campaigns/{name}/manage/clone")
def clone(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    clone_name: Annotated[str, Form(max_length=200)] = "",
    clone_title: Annotated[str, Form(max_length=1000)] = "",
    clone_starts: Annotated[str, Form(max_length=40)] = "",
    clone_test_sets: Annotated[str, Form(max_length=10)] = "",
    clone_teams: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """Clone a campaign, and show the pages of the new one."""
    if not principal.signed_in:
        raise NotSignedIn
    state = app_state(request)
    try:
        with form_errors(), writing(state.engine, durable=True) as connection:
            old = read_access(connection, principal, name)
            starts_at = parse_local_time(clone_starts, old.time_zone) if clone_starts.strip() else None
            asked = CloneRequest(
                clone_name, clone_title.strip() or None, starts_at, bool(clone_test_sets), bool(clone_teams)
            )
            clone_campaign(connection, state.settings, principal, name, asked)
    except InvalidForm as error:
        given = {"clone_name": clone_name, "clone_title": clone_title, "clone_starts": clone_starts}
        given |= {"clone_test_sets": clone_test_sets, "clone_teams": clone_teams}
        return management_page(
            request, principal, name, error=str(error), where="clone", given=given, status=error.status
        )
    return see_other(f"/campaigns/{part_of_address(clone_name.strip())}/manage?done=cloned")
