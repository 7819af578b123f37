"""Junk in every field of every page, by address and by form: an answer in words, never a fault, never markup."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.web.hostile.crawling import Found, Page
from tests.web.hostile.expected import RULES
from tests.web.hostile.test_crawling import leaks
from tests.web.hostile.test_roles import ROUTES, Stage, address_of
from tests.web.hostile.world import ROLES, SCRIPT, Template
from web.pages.routers import ROUTERS

JUNK = (
    "",
    "-1",
    "9" * 30,
    "1e999",
    "nan",
    SCRIPT,
    "\u202e\u0130\ufffd",
    "//evil.example/x",
    "x" * 2000,
    "2026-13-45 99:99",
)


def fields_of_pages() -> dict[str, tuple[set[str], set[str]]]:
    """Route -> names in its address, names in its form."""
    found = {}
    for router in ROUTERS:
        for route in router.routes:
            dependant = getattr(route, "dependant", None)
            if dependant is None:
                continue
            query, body, waiting = set(), set(), [dependant]
            while waiting:
                each = waiting.pop()
                query |= {field.alias for field in each.query_params}
                body |= {field.alias for field in each.body_params}
                waiting += each.dependencies
            for method in route.methods:  # type: ignore[attr-defined]
                found[f"{method} {route.path}"] = query, body  # type: ignore[attr-defined]
    return found


FIELDS = fields_of_pages()


@pytest.fixture(scope="module")
def stage(world_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with ExitStack() as stack:
        yield Stage(world_template.copy(tmp_path_factory.mktemp("junk"), stack), world_template, {})


@pytest.mark.few(40)
@pytest.mark.parametrize("route", [each for each in ROUTES if each in FIELDS and each in RULES])
def test_junk_is_answered_in_words(stage: Stage, route: str) -> None:
    query, body = FIELDS[route]
    method = route.split(" ", 1)[0]
    # Where nobody finds anything, the one who may do most.
    role = next((each for each in ROLES if each in RULES[route].who), ROLES[-1])
    for junk in JUNK:
        if not query | body and junk:
            break
        sent: dict[str, Any] = {"params": dict.fromkeys(query, junk)} if query else {}
        if method == "POST":
            sent["data"] = dict.fromkeys(body, junk)
        answer = stage.client(role).request(method, address_of(route, stage.world), **sent)
        assert answer.status_code < 500, f"{junk[:50]!r}: {answer.text[:500]}"
        assert not answer.headers.get("Location", "/").startswith(("//", "http", "/\\")), answer.headers["Location"]
        if answer.headers.get("Content-Type", "").startswith("text/html"):
            assert not Page(answer.text).faults
        # A link that was sent to somebody shows whose it is.
        if "{secret}" not in route:
            found = Found(str(answer.url), answer.status_code, "", answer.text)
            assert not leaks(found, role, stage.world)
    if method == "POST":
        stage.put_back()
