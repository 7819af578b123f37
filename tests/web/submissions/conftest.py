"""What the tests of submissions share."""

from __future__ import annotations

import pytest

from tests.web.service import Service
from tests.web.submissions.port import Port


@pytest.fixture
def port(service: Service) -> Port:
    """A campaign that takes submissions."""
    return Port.opened(service)
