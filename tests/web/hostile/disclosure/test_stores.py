"""A store of statistics that fails: its driver's words, folders and buckets are for whoever runs the server."""

from __future__ import annotations

import logging

import pytest
from fsspec.implementations.memory import MemoryFileSystem
from sqlalchemy import update

from models.database.session import writing
from models.schema.results import Statistics
from tests.web.hostile.world import OPEN, ROLES, World

SECRET = "canarybucket"
LOST = f"memory://{SECRET}/statistics/ab/{'ab' * 32}"
FAILURES = {
    "not there": FileNotFoundError(SECRET),
    "no right to read": PermissionError(f"{SECRET}: Access Denied"),
    "away": ConnectionError(f"Could not connect to http://me:canarypassword@{SECRET}:9000/"),
    "a driver's own kind": RuntimeError(f"SignatureDoesNotMatch: secret_key=canarypassword {SECRET}"),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_nobody_learns_where_statistics_lie(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failure: Exception
) -> None:
    with writing(world.service.engine) as connection:
        connection.execute(update(Statistics).values(object_url=LOST, blob=b""))

    def fail(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr(MemoryFileSystem, "_open", fail)
    api = f"/api/v1/campaigns/{OPEN}/segments?test_set={world.test_sets[OPEN]}"
    seen = set()
    with caplog.at_level(logging.INFO):
        for role in ROLES:
            for answer in (
                world.browser(role).get(f"/campaigns/{OPEN}/segments"),
                world.program(role).get(f"{api}&system={world.submissions[OPEN, 'harbour', 'keel']}"),
            ):
                assert "canarybucket" not in answer.text, (role, answer.text)
                assert "canarypassword" not in answer.text, (role, answer.text)
                seen.add(answer.status_code)
    assert 503 in seen
    assert seen <= {200, 401, 404, 503}
    assert "canarybucket" in caplog.text
    assert "canarypassword" not in caplog.text
