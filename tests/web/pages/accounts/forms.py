"""The forms of these pages."""

from __future__ import annotations

import re
from typing import Any

from fastapi.testclient import TestClient

from tests.service.people import PASSWORD, submit
from tests.service.service import Service


def link_on(text: str) -> str:
    """The path of the link that a page shows once."""
    found = re.search(r'<code class="secret"[^>]*>https?://[^/]+(/[^<]+)</code>', text)
    assert found, text
    return found[1]


def sign_in(client: TestClient, email: str, password: str = PASSWORD, **fields: Any) -> Any:
    return submit(client, "/sign-in", email=email, password=password, **fields)


def secure(service: Service) -> TestClient:
    return service.stack.enter_context(TestClient(service.app, base_url="https://mt.example.org"))
