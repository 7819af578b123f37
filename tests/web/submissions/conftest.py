"""What the tests of submissions share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.web.service import Service
from tests.web.submissions.port import Port


@pytest.fixture
def port(service: Service) -> Port:
    """A campaign that takes submissions."""
    return Port.opened(service)


@pytest.fixture
def port_anywhere(database_url: str) -> Iterator[Port]:
    """The same on each kind of database, for what has SQL of its own."""
    with ExitStack() as stack:
        yield Port.opened(Service.start(database_url, stack))
