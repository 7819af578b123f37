"""The world, copied for tests that change it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.web.hostile.world import Template, World


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


@pytest.fixture(autouse=True)
def _short_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams about pages have no end of their own: here they end after their first event."""
    monkeypatch.setattr("web.pages.live.LONGEST_STREAM_SECONDS", 0.0)
