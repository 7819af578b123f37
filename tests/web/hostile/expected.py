"""Who may call which route: the whole table. A route that is not here fails the tests.

Each is called by everybody with what makes a good request of it, about the private campaign "hush" and the team
"harbour" where it is about one. `who` are those who must not be refused; all others must be, and nothing may change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.web.hostile.world import ROLES, World

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
}

_human = {
    "files": [("files", ("human.tsv", b"system\tscore\nkeel\t0.4\n", "text/plain"))],
    "data": {"test_set": "news of hush", "called": "da"},
}

RULES: dict[str, Rule] = {
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
