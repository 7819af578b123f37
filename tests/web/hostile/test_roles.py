"""Every route, called by everybody: who may not is refused, learns nothing, and changes nothing."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi.testclient import TestClient

from models.database.session import reading
from models.schema.base import Base
from tests.web.hostile.expected import PARTS, RULES, Rule
from tests.web.hostile.world import PRIVATE, ROLES, Template, World, hidden_from
from web.api.routers import all_routers
from web.dependencies import FORM_HEADER, SAFE_METHODS
from web.pages.routers import ROUTERS

REFUSED = frozenset({401, 403, 404})
MISSING = "hash"
"""No campaign, of a name as long as that of the private one."""
OUTSIDE = ("nobody", "other_organiser")
USED = ("web_session", "api_token")
"""Tables where it is noted that somebody was there."""


def all_routes() -> dict[str, tuple[str, frozenset[str]]]:
    """Method and path -> method, and the names of what the route takes."""
    found = {}
    for prefix, routers in (("/api/v1", all_routers()), ("", ROUTERS)):
        for router in routers:
            for route in router.routes:
                for method in sorted(
                    getattr(route, "methods", ()) - {"OPTIONS"} - ({"HEAD"} if "GET" in route.methods else set())
                ):
                    taken = frozenset(inspect.signature(route.endpoint).parameters)  # type: ignore[attr-defined]
                    found[f"{method} {prefix}{route.path}"] = method, taken  # type: ignore[attr-defined]
    return found


ROUTES = {route: method for route, (method, _) in all_routes().items()}
KNOWN = [each for each in ROUTES if each in RULES]
VERSIONED = [
    route for route, (method, taken) in all_routes().items() if method != "GET" and taken & {"if_match", "version"}
]
"""Those that change what somebody has looked at before."""


def address_of(route: str, world: World, campaign: str = "") -> str:
    """Where a route is called."""
    rule, path = RULES[route], route.split(" ", 1)[1]
    values = {part: value(world) for part, value in PARTS.items()}
    values |= {part: value(world) if callable(value) else value for part, value in rule.parts.items()}
    if campaign:
        values |= {part: campaign for part in ("name", "campaign") if values.get(part) == PRIVATE}
    return re.sub(r"{([^}:]+)[^}]*}", lambda match: str(values[match[1]]), path) + rule.query


@dataclass
class Stage:
    """A world that is restored after each change."""

    world: World
    template: Template
    clients: dict[tuple[str, str], TestClient]

    def client(self, role: str, kind: str = "browser") -> TestClient:
        if (role, kind) not in self.clients:
            self.clients[role, kind] = {
                "browser": lambda: self.world.browser(role),
                "program": lambda: self.world.program(role),
                "reader": lambda: self.world.program(role, reads_only=True),
            }[kind]()
        return self.clients[role, kind]

    def put_back(self) -> None:
        """Make everything as it was."""
        service = self.world.service
        for engine in (service.engine, service.app.state.steelyard.engine):
            engine.dispose()
        self.template.restore(service.settings.database_url)

    def rows(self) -> dict[str, list[Any]]:
        """All that is stored, but for who was there."""
        with reading(self.world.service.engine) as connection:
            names = [name for name in Base.metadata.tables if name not in USED]
            # By the driver: what SQLAlchemy adds to each of seventy statements is a third of what these tests cost.
            cursor = connection.connection.cursor()
            return {name: list(cursor.execute(f'SELECT * FROM "{name}"')) for name in names}

    def call(self, route: str, role: str, kind: str = "browser", campaign: str = "", **headers: str) -> Any:
        address = address_of(route, self.world, campaign)
        method, rule, world = route.split(" ", 1)[0], RULES[route], self.world
        client = self.client(role, kind)
        sent = rule.request(world)
        kept = list(client.cookies.jar)
        answer = client.request(method, address, **{**sent, "headers": {**sent.get("headers", {}), **headers}})
        # Signing in and out changes who a browser is; the next call is by the same person again.
        client.cookies.jar.clear()
        for cookie in kept:
            client.cookies.jar.set_cookie(cookie)
        return answer


@pytest.fixture(scope="module")
def stage(world_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with ExitStack() as stack:
        yield Stage(world_template.copy(tmp_path_factory.mktemp("stage"), stack), world_template, {})


def way_of(route: str) -> str:
    """How it is called: programs come by tokens, people to pages by sessions; both are the same to all routes."""
    return "program" if "/api/" in route else "browser"


def refused(answer: Any) -> bool:
    """Whether an answer is a no: also the way to the page where one signs in."""
    to_sign_in = answer.status_code == 303 and answer.headers["Location"].startswith("/sign-in?next=")
    return answer.status_code in REFUSED or to_sign_in


def test_every_route_is_in_the_table() -> None:
    assert not [each for each in ROUTES if each not in RULES], "say in tests/web/hostile/expected.py who may call these"
    assert not [each for each in RULES if each not in ROUTES], "these are gone"


@pytest.mark.parametrize("route", KNOWN)
def test_who_may_not_is_refused_and_changes_nothing(stage: Stage, route: str) -> None:
    rule, before, wrong = RULES[route], stage.rows(), []
    for role in ROLES:
        if role in rule.who:
            continue
        answer = stage.call(route, role, way_of(route))
        if not refused(answer):
            wrong.append(f"{role}: {answer.status_code} {answer.text[:300]}")
    assert not wrong, "\n".join(wrong)
    assert stage.rows() == before


@pytest.mark.few(90)
@pytest.mark.parametrize("route", KNOWN)
def test_who_may_is_not_refused(stage: Stage, route: str) -> None:
    wrong = []
    for role in ROLES:
        if role in RULES[route].who:
            answer = stage.call(route, role)
            if refused(answer) or answer.status_code in (405, 422) or answer.status_code >= 500:
                wrong.append(f"{role}: {answer.status_code} {answer.text[:300]}")
            if "{secret}" not in route and "/invitations" not in route:
                wrong += [f"{role} sees {word}" for word in hidden_from(role) if word in answer.text]
            if ROUTES[route] not in SAFE_METHODS:
                stage.put_back()
    assert not wrong, "\n".join(wrong)


@pytest.mark.few(50)
@pytest.mark.parametrize("route", [each for each in KNOWN if ROUTES[each] not in SAFE_METHODS])
def test_reading_tokens_and_forged_forms_change_nothing(stage: Stage, route: str) -> None:
    rule, before = RULES[route], stage.rows()
    for role in [each for each in ROLES if each in rule.who and each not in ("nobody", "disabled")][-1:]:
        forged = stage.call(route, role, **{FORM_HEADER: "forged"})
        assert forged.status_code == 403, (role, forged.text[:300])
        foreign = stage.call(route, role, Origin="https://evil.example", **{"Sec-Fetch-Site": "cross-site"})
        assert foreign.status_code == 403, (role, foreign.text[:300])
        if rule.scope != "read" and "/api/" in route:
            answer = stage.call(route, role, "reader")
            assert refused(answer), (role, answer.text[:300])
    assert stage.rows() == before


@pytest.mark.parametrize("route", VERSIONED)
def test_what_is_out_of_date_changes_nothing(stage: Stage, route: str) -> None:
    before, sent = stage.rows(), RULES[route].request(stage.world)
    if "/api/" in route:
        sent["headers"] = {**sent.get("headers", {}), "If-Match": '"of old"'}
    else:
        sent["data"] = {**sent.get("data", {}), "version": "of old"}
    answer = stage.client("organiser").request(ROUTES[route], address_of(route, stage.world), **sent)
    assert answer.status_code == 412, answer.text[:300]
    assert stage.rows() == before


def test_no_route_stops_looking_at_the_version_unseen() -> None:
    assert len(VERSIONED) >= 18


@pytest.mark.few(50)
@pytest.mark.parametrize("route", [each for each in KNOWN if "/campaigns/{" in each])
def test_private_campaigns_are_like_those_that_are_not_there(stage: Stage, route: str) -> None:
    for role in OUTSIDE:
        if role in RULES[route].who:
            continue
        answers = [stage.call(route, role, way_of(route), campaign) for campaign in (PRIVATE, MISSING)]
        there, missing = (
            (answer.status_code, _plain(answer.headers), answer.text.replace(name, "NAME"))
            for answer, name in zip(answers, (PRIVATE, MISSING), strict=True)
        )
        assert there == missing, role


def _plain(headers: Any) -> dict[str, str]:
    """Headers that say something of the answer."""
    # A browser's first form gives it a cookie, whatever the page.
    kept = {
        name: value for name, value in headers.items() if name.lower() not in ("x-request-id", "set-cookie", "date")
    }
    return {name: value.replace(PRIVATE, "NAME").replace(MISSING, "NAME") for name, value in kept.items()}


def test_the_rules_are_about_somebody() -> None:
    for route, rule in RULES.items():
        assert isinstance(rule, Rule)
        assert rule.who <= set(ROLES), route
