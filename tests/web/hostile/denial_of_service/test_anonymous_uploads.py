"""Who is not signed in makes the server read nothing large, whatever the route does with it."""

from __future__ import annotations

import pytest
from fastapi.routing import APIRoute
from starlette.formparsers import MultiPartParser

from models.schema.roles import Scope
from tests.service.service import Service
from web.api.routers import all_routers
from web.pages.routers import ROUTERS
from web.uploads.large_bodies import is_upload

LARGE = b"x" * (3 << 20)


def test_no_route_reads_a_large_body_of_nobody(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    on_part_data = MultiPartParser.on_part_data

    def counted(self: MultiPartParser, data: bytes, start: int, end: int) -> None:
        nonlocal read
        read += end - start
        on_part_data(self, data, start, end)

    monkeypatch.setattr(MultiPartParser, "on_part_data", counted)
    routes = [
        (prefix + route.path, route)
        for prefix, routers in (("/api/v1", all_routers()), ("", ROUTERS))
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute) and is_upload(route.endpoint)
    ]
    assert len(routes) >= 7
    for path, route in routes:
        for name in route.param_convertors:
            path = path.replace(f"{{{name}}}", "1")
        (method,) = route.methods
        for client in (service.client(), service.client(headers={"Authorization": "Bearer sty_none"})):
            answer = client.request(method, path, files={"file": ("x", LARGE), "references": ("x", LARGE)})
            assert answer.status_code in (401, 403, 303), (path, answer.text)
    assert read == 0
    # And whoever may is read.
    program = service.program(service.account("mary"), Scope.SUBMIT)
    program.post("/api/v1/campaigns/none/submissions", files={"file": ("x", LARGE)}, data={"system": "s"})
    assert read >= len(LARGE)
