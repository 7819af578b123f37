"""Rate limits: per account, and per network for anonymous clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request

from campaigns.accounts.throttle import Rate, network_of
from campaigns.errors import NotSignedIn
from web.dependencies import SAFE_METHODS, address_of, app_state, read_principal
from web.uploads.large_bodies import is_upload

if TYPE_CHECKING:
    from web.state import State

MINUTE = 60


def check_rate(request: Request) -> None:
    """Count a request, and separately an upload. Raises TooMany."""
    state = app_state(request)
    try:
        principal = read_principal(request)
    except NotSignedIn:
        # Requests with bad tokens are counted, too.
        _hit(state, "request", state.settings.requests_per_minute, network_of(address_of(request)))
        raise
    whose = f"account {principal.account_id}" if principal.signed_in else network_of(address_of(request))
    _hit(state, "request", state.settings.requests_per_minute, whose)
    if request.method not in SAFE_METHODS and is_upload(request.scope.get("endpoint")):
        _hit(state, "upload", state.settings.uploads_per_minute, whose)


def _hit(state: State, what: str, times: int, whose: str) -> None:
    message = f"More than {times} {what}s within a minute. Wait a moment."
    state.throttle.hit(Rate(what, times, MINUTE), whose, message)
