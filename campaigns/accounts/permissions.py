"""What everybody who asks for something of the whole server must be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.errors import Forbidden
from models.schema.roles import Scope

if TYPE_CHECKING:
    from campaigns.accounts.principal import Principal


def require_administrator(principal: Principal, scope: Scope = Scope.ORGANISE) -> int:
    """The account's id. Raises NotSignedIn, Forbidden."""
    account_id = principal.require(scope)
    if not principal.administrates:
        raise Forbidden("Only administrators may do that.")
    return account_id


def require_browser(principal: Principal) -> int:
    """The account's id, where a person asks and no program. Raises NotSignedIn, Forbidden.

    A token that was stolen is thus of no use for making others that outlive it.
    """
    account_id = principal.require(Scope.ORGANISE)
    if principal.session_id is None:
        raise Forbidden("A token may not do that. Sign in with a browser, or give address and password.")
    return account_id
