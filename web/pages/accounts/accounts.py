"""All accounts, for administrators."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Path, Query, Request, Response

from campaigns.accounts.accounts import add_account, list_accounts, read_account, set_disabled, set_role, set_verified
from campaigns.accounts.confirmations import issue_password_link
from campaigns.accounts.permissions import require_administrator
from campaigns.accounts.sessions import end_sessions
from campaigns.errors import BadRequest, Conflict
from campaigns.invitations.email_texts import password_link
from models.database.session import reading, writing
from models.schema.roles import Scope, SiteRole
from web.api.paging import LARGEST_ID, parse_cursor
from web.dependencies import CurrentPrincipal, app_state
from web.pages.accounts.session_cookie import NO_STORE, form_with_error
from web.pages.rendering import page, see_other

router = APIRouter()

TITLE = "Accounts"
SHOWN = 50
Search = Annotated[str, Query(max_length=200)]


@router.get("/accounts")
def show_accounts(request: Request, principal: CurrentPrincipal, search: Search = "", after: str = "") -> Response:
    """List all accounts, or those whose name or address contains `search`."""
    values = _accounts(request, principal, search, after)
    return page(request, "accounts/accounts", title=TITLE, headers=NO_STORE, **values)


@router.post("/accounts")
def create_account(
    request: Request,
    principal: CurrentPrincipal,
    email: Annotated[str, Form()] = "",
    name: Annotated[str, Form()] = "",
    role: Annotated[str, Form()] = SiteRole.PARTICIPANT,
) -> Response:
    """Create an account, and show the link to set its password."""
    require_administrator(principal)
    state = app_state(request)
    try:
        with writing(state.engine) as connection:
            how = "by an administrator"
            account_id = add_account(connection, principal, email, name, role=_role(role), how=how)
            seconds = state.settings.confirmation_seconds
            secret = issue_password_link(connection, principal, account_id, seconds)
    except (BadRequest, Conflict) as error:
        given = {"email": email[:254], "name": name[:100], "role": role}
        return form_with_error(
            request, "accounts/accounts", error, title=TITLE, **_accounts(request, principal, given=given)
        )
    link = password_link(state.settings, secret)
    values = _accounts(request, principal, link=link, link_of=email.strip())
    return page(request, "accounts/accounts", title=TITLE, headers=NO_STORE, **values)


@router.post("/accounts/{account_id}")
def change_account(
    request: Request,
    principal: CurrentPrincipal,
    account_id: Annotated[int, Path(ge=1, le=LARGEST_ID)],
    do: Annotated[str, Form()] = "",
    role: Annotated[str, Form()] = "",
) -> Response:
    """Change the role, disable, enable, confirm the address, sign out, or create a password link."""
    require_administrator(principal)
    state = app_state(request)
    link = ""
    with writing(state.engine) as connection:
        known = read_account(connection, account_id)
        if do == "role":
            set_role(connection, principal, account_id, _role(role))
        elif do in ("disable", "enable"):
            set_disabled(connection, principal, account_id, do == "disable")
        elif do == "verify":
            set_verified(connection, principal, account_id)
        elif do == "sign-out":
            ended = end_sessions(connection, account_id)
            principal.audit(connection, "session.end_all", f"account {known.email}", sessions=ended)
        elif do == "link":
            seconds = state.settings.confirmation_seconds
            secret = issue_password_link(connection, principal, account_id, seconds)
            link = password_link(state.settings, secret)
        else:
            raise BadRequest(f"Unknown action {do[:20]!r}.")
    if not link:
        return see_other(f"/accounts?{urlencode({'search': known.email})}")
    values = _accounts(request, principal, known.email, link=link, link_of=known.email)
    return page(request, "accounts/accounts", title=TITLE, headers=NO_STORE, **values)


def _role(given: str) -> SiteRole:
    if given not in {each.value for each in SiteRole}:
        raise BadRequest(f"Unknown role {given[:20]!r}.")
    return SiteRole(given)


def _accounts(
    request: Request,
    principal: CurrentPrincipal,
    search: str = "",
    after: str = "",
    *,
    link: str = "",
    link_of: str = "",
    given: dict[str, str] | None = None,
) -> dict[str, Any]:
    require_administrator(principal, Scope.READ)
    with reading(app_state(request).engine) as connection:
        found = list_accounts(connection, after=parse_cursor(after), limit=SHOWN, search=search)
    asked = {"search": search} if search else {}
    following = urlencode({**asked, "after": found[SHOWN - 1].id}) if len(found) > SHOWN else ""
    return {
        "accounts": found[:SHOWN],
        "next": f"/accounts?{following}" if following else "",
        "search": search,
        "link": link,
        "link_of": link_of,
        "roles": [(each.value, each.value) for each in SiteRole],
        "given": given or {"email": "", "name": "", "role": SiteRole.PARTICIPANT.value},
        **({} if given else {"error": None}),
    }
