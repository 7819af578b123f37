"""Routes are found by their paths: what a command with --database includes is what a server has."""

from __future__ import annotations

import pytest
from fastapi.routing import APIRoute

from web.api.routers import all_routers, file_for, router_of

PATHS = [(route.path, router) for router in all_routers() for route in router.routes if isinstance(route, APIRoute)]


@pytest.mark.parametrize(("path", "router"), PATHS, ids=[path for path, _ in PATHS])
def test_a_path_leads_to_the_file_with_its_routes(path: str, router: object) -> None:
    file = file_for(path)
    assert file is not None
    assert router_of(file) is router


def test_names_may_be_those_of_routes() -> None:
    assert file_for("/campaigns/teams") == file_for("/campaigns/news") == "campaigns.campaigns"
    assert file_for("/teams/quotas") == "accounts.teams"
    assert file_for("/no-such-thing") is None
