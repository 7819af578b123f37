"""What the tests of the web room share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from campaigns.accounts import passwords
from tests.web.hostile.world import Template, build
from tests.web.postman import AnyPort, Postman
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


@pytest.fixture
def postman() -> Iterator[Postman]:
    handler = Postman()
    controller = AnyPort(handler, hostname="127.0.0.1", port=0)
    controller.start()
    handler.port = controller.port
    yield handler
    controller.stop()


@pytest.fixture
def mailing(sqlite_url: str, postman: Postman) -> Iterator[Service]:
    """A server behind https that sends mails."""
    with ExitStack() as stack:
        yield Service.start(
            sqlite_url,
            stack,
            sign_up="open",
            mail_url=f"smtp://127.0.0.1:{postman.port}",
            mail_from="Steelyard <steelyard@example.org>",
            public_url="https://mt.example.org",
        )


@pytest.fixture
def quick_hashing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Passwords cost next to nothing: for tests that try many."""
    monkeypatch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    passwords._nobodys.cache_clear()
    yield
    passwords._nobodys.cache_clear()
