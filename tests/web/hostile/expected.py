"""Who may call which route: the whole table. A route that is not here fails the tests.

Each is called by everybody with what makes a good request of it, about the private campaign "hush" and the team
"harbour" where it is about one. `who` are those who must not be refused; all others must be, and nothing may change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.web.access.people import PASSWORD
from tests.web.hostile.world import ROLES, World, email_of

EVERYBODY = frozenset(ROLES)
SIGNED_IN = EVERYBODY - {"nobody", "disabled"}
INSIDE = frozenset({"viewer", "member", "lead", "organiser", "administrator"})
"""Those who may know of the private campaign."""
TEAM = frozenset({"member", "lead"})
LEADS = frozenset({"lead"})
ORGANISERS = frozenset({"organiser", "administrator"})
FOUNDERS = ORGANISERS | {"other_organiser"}
ADMINISTRATORS = frozenset({"administrator"})
NOBODY = frozenset({"nobody", "disabled"})


@dataclass(frozen=True)
class Rule:
    """Who may call a route, and how it is called."""

    who: frozenset[str]
    sent: Mapping[str, Any] = field(default_factory=dict)
    """For `TestClient.request`; what is called is called with the world."""
    parts: Mapping[str, Any] = field(default_factory=dict)
    """Of the address, where they are others than those in `PARTS`."""
    query: str = ""
    scope: str = ""
    """Of an unsafe route, whether a token with the scope "read" is enough."""

    def request(self, world: World) -> dict[str, Any]:
        return {name: value(world) if callable(value) else value for name, value in self.sent.items()}


PARTS: dict[str, Callable[[World], object]] = {
    "name": lambda world: "hush",
    "campaign": lambda world: "hush",
    "submission_id": lambda world: world.submissions["hush", "harbour", "keel"],
    "team": lambda world: "harbour",
    "account_id": lambda world: world.accounts["member"],
    "token_id": lambda world: list(world.tokens).index("lead") + 1,
    "invitation_id": lambda world: 1,
}

_LEADING = LEADS | ADMINISTRATORS
ACCOUNTS: dict[str, Rule] = {
    "GET /api/v1/account": Rule(SIGNED_IN),
    "PATCH /api/v1/account": Rule(SIGNED_IN, {"json": {"name": "Somebody Else"}}),
    "PUT /api/v1/account/password": Rule(SIGNED_IN, {"json": {"old": PASSWORD, "new": "another horse battery"}}),
    "POST /api/v1/account/confirmation": Rule(SIGNED_IN),
    "GET /api/v1/account/sessions": Rule(SIGNED_IN),
    "DELETE /api/v1/account/sessions": Rule(SIGNED_IN),
    "GET /api/v1/tokens": Rule(SIGNED_IN),
    "POST /api/v1/tokens": Rule(SIGNED_IN, {"json": {"name": "laptop"}}),
    "DELETE /api/v1/tokens/{token_id}": Rule(LEADS),
    "GET /api/v1/teams": Rule(SIGNED_IN),
    "POST /api/v1/teams": Rule(SIGNED_IN - {"viewer"}, {"json": {"name": "pier"}}),
    "GET /api/v1/teams/{team}": Rule(TEAM | ADMINISTRATORS),
    "PATCH /api/v1/teams/{team}": Rule(_LEADING, {"json": {"affiliation": "the sea"}}),
    "POST /api/v1/teams/{team}/members": Rule(ADMINISTRATORS, {"json": {"email": email_of("rival")}}),
    "PATCH /api/v1/teams/{team}/members/{account_id}": Rule(_LEADING, {"json": {"role": "lead"}}),
    "DELETE /api/v1/teams/{team}/members/{account_id}": Rule(TEAM | ADMINISTRATORS),
    "GET /api/v1/invitations": Rule(SIGNED_IN),
    "POST /api/v1/invitations": Rule(_LEADING, {"json": {"team": "harbour"}}),
    "POST /api/v1/invitations/accept": Rule(SIGNED_IN, {"json": lambda world: {"secret": world.invitation}}),
    "DELETE /api/v1/invitations/{invitation_id}": Rule(_LEADING),
    "GET /api/v1/accounts": Rule(ADMINISTRATORS),
    "POST /api/v1/accounts": Rule(ADMINISTRATORS, {"json": {"email": "new@example.org", "name": "New"}}),
    "GET /api/v1/accounts/{account_id}": Rule(ADMINISTRATORS),
    "PATCH /api/v1/accounts/{account_id}": Rule(ADMINISTRATORS, {"json": {"role": "organiser"}}),
    "POST /api/v1/accounts/{account_id}/password-link": Rule(ADMINISTRATORS),
    "DELETE /api/v1/accounts/{account_id}/sessions": Rule(ADMINISTRATORS),
    "GET /api/v1/audit": Rule(ADMINISTRATORS),
    "GET /api/v1/campaigns/{campaign}/audit": Rule(ORGANISERS),
}

_human = {
    "files": [("files", ("human.tsv", b"system\tscore\nkeel\t0.4\n", "text/plain"))],
    "data": {"test_set": "news of hush", "called": "da"},
}

RULES: dict[str, Rule] = {
    **ACCOUNTS,
    "GET /": Rule(EVERYBODY),
    "GET /campaigns/{name}/segments": Rule(INSIDE),
    "GET /api/v1/me": Rule(EVERYBODY),
    # While its phase is blind, how metrics agree with people is for organisers.
    "GET /campaigns/{name}/metrics": Rule(ORGANISERS),
    "POST /campaigns/{name}/metrics": Rule(ORGANISERS, _human),
    "GET /api/v1/campaigns/{name}/segments": Rule(INSIDE),
    "GET /api/v1/campaigns/{name}/human-scores": Rule(ORGANISERS),
    "POST /api/v1/campaigns/{name}/human-scores": Rule(ORGANISERS, _human),
    "GET /api/v1/campaigns/{name}/correlations": Rule(ORGANISERS),
}
