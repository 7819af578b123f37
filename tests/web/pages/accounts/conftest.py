"""A server on which anybody may sign up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.service.service import Service


@pytest.fixture
def opened(service_url: str) -> Iterator[Service]:
    """A server where anybody may sign up, and that sends no mails."""
    with ExitStack() as stack:
        yield Service.start(service_url, stack, sign_up="open")
