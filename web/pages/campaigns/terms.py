"""The terms of a campaign: shown, accepted for a team, and written by organisers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from campaigns.accounts.principal import Principal
from campaigns.changes import lock_for_change
from campaigns.errors import NotFound
from campaigns.permissions import read_access
from campaigns.terms import MAX_TERMS_LENGTH, accept_terms, accepted_by, read_terms, set_terms
from models.database.session import reading, writing
from web.dependencies import CurrentPrincipal, app_state
from web.pages.campaigns.manage_sections import organiser_access
from web.pages.forms import InvalidForm, form_errors
from web.pages.rendering import page, part_of_address, see_other

router = APIRouter()


@router.get("/campaigns/{name}/terms")
def show_terms(request: Request, name: str, principal: CurrentPrincipal) -> Response:
    """Show the terms, and to members of teams the form to accept them."""
    return _terms(request, name, principal)


@router.post("/campaigns/{name}/terms")
def accept(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    team: Annotated[str, Form(max_length=200)] = "",
    terms_version: Annotated[int, Form(ge=0, lt=2**31)] = 0,
) -> Response:
    """Accept the terms for a team, and go on to submitting."""
    try:
        with form_errors(), writing(app_state(request).engine, durable=True) as connection:
            access = read_access(connection, principal, name)
            accept_terms(connection, principal, access, team, terms_version)
    except InvalidForm as invalid:
        return _terms(request, name, principal, invalid)
    return see_other(f"/campaigns/{part_of_address(name)}/submit")


@router.get("/campaigns/{name}/manage/terms")
def show_form(request: Request, name: str, principal: CurrentPrincipal) -> Response:
    """Show the terms to organisers, with who accepted them."""
    return _form(request, name, principal)


@router.post("/campaigns/{name}/manage/terms")
def change(request: Request, name: str, principal: CurrentPrincipal, terms: Annotated[str, Form()] = "") -> Response:
    """Change the terms: a new version, which teams must accept."""
    try:
        with form_errors(), writing(app_state(request).engine) as connection:
            set_terms(connection, lock_for_change(connection, principal, name), terms)
    except InvalidForm as invalid:
        return _form(request, name, principal, given=terms, invalid=invalid)
    return see_other(f"/campaigns/{part_of_address(name)}/manage?done=terms")


def _terms(request: Request, name: str, principal: Principal, invalid: InvalidForm | None = None) -> Response:
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        terms = read_terms(connection, access.campaign_id)
        accepted = accepted_by(connection, access.campaign_id) if access.own_teams else []
    if terms is None:
        raise NotFound("The campaign has no terms.")
    return page(
        request,
        "campaigns/terms",
        status=invalid.status if invalid else 200,
        title="Terms",
        access=access,
        here="terms",
        terms=terms,
        accepted={each.team: each for each in accepted if each.version == terms.version},
        error=str(invalid) if invalid else "",
    )


def _form(
    request: Request, name: str, principal: Principal, *, given: str | None = None, invalid: InvalidForm | None = None
) -> Response:
    with reading(app_state(request).engine) as connection:
        access = organiser_access(connection, principal, name)
        terms = read_terms(connection, access.campaign_id)
        accepted = accepted_by(connection, access.campaign_id)
    return page(
        request,
        "campaigns/manage/terms",
        status=invalid.status if invalid else 200,
        title="Terms",
        access=access,
        here="manage",
        terms=terms,
        given=given if given is not None else terms.text if terms else "",
        accepted=accepted,
        longest=MAX_TERMS_LENGTH,
        error=str(invalid) if invalid else "",
    )
