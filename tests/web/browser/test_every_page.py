"""Every page there is, in the world of the hostile tests: accessible, wide enough, and no script of theirs runs.

Its names and texts are the worst that pages can meet, long ones among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest
from playwright.sync_api import Browser, Page

from tests.web.browser.looks import HEIGHT, WIDTHS, check_accessible, check_width
from tests.web.browser.site import Site
from tests.web.hostile.expected import RULES
from tests.web.hostile.test_roles import ROUTES, address_of
from tests.web.hostile.world import ROLES, Template, World

PAGES = [
    route
    for route in ROUTES
    # Outputs, feeds and pictures are files, streams have no end, and nobody has come back from a provider.
    if route.startswith("GET /") and "/api/" not in route
    if not route.endswith(("/output", "/feed.xml", "/share.png", "/live"))
    if RULES[route].who
]


REFUSED = {("GET /account/delete", "administrator")}
"""The only administrator cannot delete the account."""


@pytest.fixture(scope="module")
def world(world_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ExitStack() as stack:
        yield world_template.copy(tmp_path_factory.mktemp("pages"), stack)


@pytest.fixture(scope="module")
def site(world: World, browser: Browser) -> Iterator[Site]:
    with ExitStack() as stack:
        made = Site.of(world.service, browser, stack)
        yield made
    assert not made.complaints


@pytest.fixture(scope="module")
def window_of(site: Site, world: World) -> Callable[[str], Page]:
    """The window of a role, which goes from page to page: opening one takes longer than most pages."""
    return cache(lambda role: site.page(None if role == "nobody" else world.accounts[role]))


@pytest.mark.few(12)
@pytest.mark.parametrize("route", PAGES)
def test_pages_are_for_everybody(site: Site, world: World, window_of: Callable[[str], Page], route: str) -> None:
    who = [role for role in ROLES if role in RULES[route].who and (route, role) not in REFUSED and role != "disabled"]
    # Who may do most sees most; and who is not signed in sees another page.
    for role in {who[-1], who[0]} if who[0] == "nobody" else {who[-1]}:
        page = window_of(role)
        page.set_viewport_size({"width": WIDTHS[0], "height": HEIGHT})
        page.emulate_media(color_scheme="light", reduced_motion="no-preference")
        answer = page.goto(address_of(route, world))
        assert answer is not None
        assert answer.status == 200, f"{role}: {answer.status}"
        # What a page looks like in the dark and on a wide screen does not depend on who sees the least of it.
        looks = ((WIDTHS[0], "light"), (WIDTHS[-1], "dark")) if role == who[-1] else ((WIDTHS[0], "light"),)
        for width, scheme in looks:
            page.set_viewport_size({"width": width, "height": HEIGHT})
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            check_width(page)
            check_accessible(page)
    site.raise_complaints()
    assert not site.complaints
