"""One world for all tests here, copied for those that change it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.web.hostile.world import Template, World, build
from tests.web.service import Service


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


@pytest.fixture
def world(world_template: Template, tmp_path: Path) -> Iterator[World]:
    """A world of its own for a test."""
    with ExitStack() as stack:
        yield world_template.copy(tmp_path, stack)


@pytest.fixture(scope="module")
def seen_world(world_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world for all tests of a file, which only look at it."""
    with ExitStack() as stack:
        yield world_template.copy(tmp_path_factory.mktemp("seen"), stack)
