"""The form by which organisers write to all teams."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from campaigns.errors import NotSignedIn, TooMany
from campaigns.notices.announcements import announce
from models.database.session import writing
from web.dependencies import CurrentPrincipal, app_state
from web.pages.campaigns.manage_sections import management_page
from web.pages.forms import InvalidForm, form_errors
from web.pages.rendering import part_of_address, see_other

router = APIRouter()


@router.post("/campaigns/{name}/manage/announce")
def send_announcement(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    announce_subject: Annotated[str, Form(max_length=2000)] = "",
    announce_text: Annotated[str, Form(max_length=50_000)] = "",
) -> Response:
    """Write to all teams, and show the page of teams again."""
    if not principal.signed_in:
        raise NotSignedIn
    state = app_state(request)
    try:
        with form_errors(), writing(state.engine, durable=True) as connection:
            announce(connection, state.settings, principal, name, announce_subject, announce_text)
    except (InvalidForm, TooMany) as error:
        given = {"announce_subject": announce_subject, "announce_text": announce_text}
        return management_page(
            request, principal, name, error=str(error), where="announce", given=given, status=error.status
        )
    return see_other(f"/campaigns/{part_of_address(name)}/manage/teams?done=announced")
