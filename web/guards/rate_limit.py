"""How often somebody may ask: each account by itself, and those without one by their network address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request

from campaigns.accounts.throttle import Rate, network_of
from campaigns.errors import NotSignedIn
from web.dependencies import SAFE, address_of, read_principal, state_of
from web.uploads.large_bodies import is_upload

if TYPE_CHECKING:
    from web.state import State

MINUTE = 60


def check_rate(request: Request) -> None:
    """Count the request, and an upload as one. Raises TooMany."""
    state = state_of(request)
    try:
        principal = read_principal(request)
    except NotSignedIn:
        # Whoever tries tokens is counted, too.
        _spend(state, "request", state.settings.requests_per_minute, network_of(address_of(request)))
        raise
    whose = f"account {principal.account_id}" if principal.signed_in else network_of(address_of(request))
    _spend(state, "request", state.settings.requests_per_minute, whose)
    if request.method not in SAFE and is_upload(request.scope.get("endpoint")):
        _spend(state, "upload", state.settings.uploads_per_minute, whose)


def _spend(state: State, what: str, times: int, whose: str) -> None:
    message = f"There were more than {times} {what}s within a minute. Wait a little."
    state.throttle.spend(Rate(what, times, MINUTE), whose, message)
