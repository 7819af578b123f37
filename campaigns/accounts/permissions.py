"""Checks for requests about the whole server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.errors import Forbidden
from models.schema.roles import Scope

if TYPE_CHECKING:
    from campaigns.accounts.principal import Principal


def require_administrator(principal: Principal, scope: Scope = Scope.ORGANISE) -> None:
    """Check that the principal administrates the server.

    Raises
    ------
    NotSignedIn
        If nobody is signed in.
    Forbidden
        If the caller lacks the permission.
    """
    principal.require(scope)
    if not principal.administrates:
        raise Forbidden("Only administrators can do that.")


def require_browser(principal: Principal) -> int:
    """Return the account's id if a person is signed in by a browser.

    A stolen token thus cannot create others that outlive it.

    Raises
    ------
    NotSignedIn
        If nobody is signed in.
    Forbidden
        For a token.
    """
    account_id = principal.require_account(Scope.ORGANISE)
    if principal.session_id is None:
        raise Forbidden("This is not possible with a token. Sign in with a browser, or use address and password.")
    return account_id
