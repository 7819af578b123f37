"""What the tests of the web room share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.web.hostile.world import Template, build
from tests.web.service import Service


@pytest.fixture
def service(sqlite_url: str) -> Iterator[Service]:
    """An app on a database of its own."""
    with ExitStack() as stack:
        yield Service.start(sqlite_url, stack)


@pytest.fixture(scope="session")
def world_template(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Template:
    """The world, made once."""
    file = tmp_path_factory.mktemp("world") / "world.db"
    shutil.copy(sqlite_template, file)
    with ExitStack() as stack:
        service = Service.start(f"sqlite:///{file}", stack)
        world = build(service)
        service.engine.dispose()
        service.app.state.steelyard.engine.dispose()
    return Template(file, world)
