"""What the tests of the web room share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.web.service import Service


@pytest.fixture
def service(sqlite_url: str) -> Iterator[Service]:
    """An app on a database of its own."""
    with ExitStack() as stack:
        yield Service.start(sqlite_url, stack)
