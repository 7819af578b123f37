"""What the tests of accounts share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher

from web.access import passwords


@pytest.fixture
def quick_hashing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Passwords cost next to nothing: for tests that try many."""
    monkeypatch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    passwords._nobodys.cache_clear()
    yield
    passwords._nobodys.cache_clear()
