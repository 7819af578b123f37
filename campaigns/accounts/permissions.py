"""Checks for requests about the whole server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.errors import Forbidden
from models.schema.roles import Scope

if TYPE_CHECKING:
    from campaigns.accounts.principal import Principal


def require_administrator(principal: Principal, scope: Scope = Scope.ORGANISE) -> int:
    """Return the id of an administrator's account.

    Raises
    ------
    NotSignedIn
        If nobody is signed in.
    Forbidden
        If the caller lacks the permission.
    """
    account_id = principal.require(scope)
    if not principal.administrates:
        raise Forbidden("Only administrators can do that.")
    return account_id


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
    account_id = principal.require(Scope.ORGANISE)
    if principal.session_id is None:
        raise Forbidden("This is not possible with a token. Sign in with a browser, or use address and password.")
    return account_id
