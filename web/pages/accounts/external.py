"""Signing in through a provider, and linking one to the account that is signed in."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote, unquote

from fastapi import APIRouter, Form, Path, Query, Request, Response

from campaigns.accounts.external.identities import account_of, link_identity, unlink_identity
from campaigns.accounts.external.provider import Attempt, ExternalSignInFailed, authorization_address, identify
from campaigns.accounts.permissions import require_browser
from campaigns.accounts.principal import Principal
from campaigns.accounts.secrets import new_secret
from campaigns.accounts.sessions import QUARTER_SECONDS, create_session
from campaigns.accounts.throttle import Rate, network_of
from campaigns.errors import CampaignsError, NotFound
from models.database.session import writing
from runtime.service_settings import site_url
from runtime.sign_in_providers import SignInProvider
from web.api.paging import LARGEST_ID
from web.dependencies import CurrentPrincipal, app_state, cookie_name, session_secret
from web.pages.accounts.session_cookie import NO_STORE, delete_cookie, local_address, set_session_cookie
from web.pages.accounts.sign_in import sign_in_page
from web.pages.rendering import page, see_other, set_cookie
from web.state import State

router = APIRouter()

ATTEMPT_COOKIE = "steelyard_attempt"
ATTEMPT_SECONDS = 600
TRIES_FACTOR = 3
"""This many times the wrong passwords allowed from a network: who comes back from a provider did sign in there."""

Provider = Annotated[str, Path(max_length=30)]
Given = Annotated[str, Query(max_length=4000)]


@router.post("/sign-in/with/{provider}")
def begin(
    request: Request,
    principal: CurrentPrincipal,
    provider: Provider,
    next: Annotated[str, Form(max_length=2000)] = "",  # noqa: A002
) -> Response:
    """Go to the provider: to sign in, or, if signed in already, to link an identity to the account.

    A page leads there, since browsers do not let the answer to a form lead to another site (`form-action`).
    """
    state = app_state(request)
    chosen = _provider(state, provider)
    if principal.signed_in:
        require_browser(principal)
    attempt = Attempt(new_secret(), _purpose(principal, provider))
    try:
        address = authorization_address(chosen, attempt, _redirect(state, provider))
    except CampaignsError as error:
        return sign_in_page(request, error, next)
    response = page(
        request,
        "accounts/external",
        title=f"Continue to {chosen.title}",
        headers={**NO_STORE, "Refresh": f"0; url={address}"},
        provider=chosen,
        address=address,
    )
    value = f"{attempt.secret}~{quote(local_address(next), safe='')}"
    set_cookie(response, request, ATTEMPT_COOKIE, value, max_age_seconds=ATTEMPT_SECONDS)
    return response


@router.get("/sign-in/with/{provider}/callback")
def come_back(
    request: Request,
    principal: CurrentPrincipal,
    provider: Provider,
    code: Given = "",
    state: Given = "",
    iss: Given | None = None,
    error: Given = "",
) -> Response:
    """Sign in, or link, whoever comes back from the provider."""
    app = app_state(request)
    chosen = _provider(app, provider)
    cookie = request.cookies.get(cookie_name(app.settings, ATTEMPT_COOKIE), "")
    secret, _, following = cookie.partition("~")
    try:
        if error or not code or not secret:
            raise ExternalSignInFailed(f"You did not sign in with {chosen.title}.")
        tries = Rate("external sign-in", TRIES_FACTOR * app.settings.sign_in_tries, QUARTER_SECONDS)
        app.throttle.hit(tries, network_of(principal.address))
        attempt = Attempt(secret, _purpose(principal, provider))
        found = identify(chosen, attempt, _redirect(app, provider), code=code, state=state, issuer=iss)
        with writing(app.engine) as connection:
            if principal.signed_in:
                link_identity(connection, principal, require_browser(principal), chosen, found)
                response: Response = see_other("/account?note=linked")
            else:
                who = account_of(connection, principal, chosen, found, sign_up=app.settings.sign_up == "open")
                old = session_secret(request)
                made = create_session(connection, who, app.settings.session_lifetime, instead_of=old)
                response = see_other(local_address(unquote(following)))
                set_session_cookie(response, request, made)
    except CampaignsError as failure:
        response = sign_in_page(request, failure, unquote(following))
    delete_cookie(response, request, ATTEMPT_COOKIE)
    return response


@router.post("/account/identities/{identity}/remove")
def remove(
    request: Request, principal: CurrentPrincipal, identity: Annotated[int, Path(ge=1, le=LARGEST_ID)]
) -> Response:
    """Remove an identity from the account."""
    account_id = require_browser(principal)
    with writing(app_state(request).engine) as connection:
        unlink_identity(connection, principal, account_id, identity)
    return see_other("/account?note=unlinked")


def _provider(state: State, name: str) -> SignInProvider:
    if name not in state.settings.sign_in_with:
        raise NotFound("This server has no such sign-in provider.")
    return state.settings.sign_in_with[name]


def _purpose(principal: Principal, provider: str) -> str:
    """What an attempt is for: one to sign in never links, and none links to another account."""
    return f"{provider} for {principal.account_id or 'signing in'}"


def _redirect(state: State, provider: str) -> str:
    return f"{site_url(state.settings)}/sign-in/with/{provider}/callback"
