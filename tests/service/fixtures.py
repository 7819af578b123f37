"""Fixtures: an app on a database of its own, with mails or without, and campaigns on it; a plugin of pytest.

What the app needs is imported where it is used: a run of the metrics' tests loads this file, too.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.service.port import Port
    from tests.service.postman import Postman
    from tests.service.service import Service
    from tests.web.hostile.world import Template

DATABASE = os.environ.get("STEELYARD_TEST_SERVICE_DATABASE", "sqlite")
"""The kind of database under the service: sqlite or postgres. CI runs its tests on both."""


@pytest.fixture(scope="module", autouse=True)
def _kept_processes_end() -> Iterator[None]:
    """Those that read texts for one app after the other go with the file of tests: others fork, or count processes."""
    yield
    if (kept := sys.modules.get("tests.service.kept")) is not None:
        kept.stop_kept()


@pytest.fixture
def service_url(request: pytest.FixtureRequest) -> str:
    """The URL of a database with the schema of this release and no rows, of the kind that the service is tested on."""
    return str(request.getfixturevalue(f"{DATABASE}_url"))


@pytest.fixture
def service(service_url: str) -> Iterator[Service]:
    """An app on a database of its own."""
    from tests.service.service import Service

    with ExitStack() as stack:
        yield Service.start(service_url, stack)


@pytest.fixture
def port(service: Service) -> Port:
    """A campaign that takes submissions."""
    from tests.service.port import Port

    return Port.opened(service)


@pytest.fixture
def port_anywhere(database_url: str) -> Iterator[Port]:
    """The same on each kind of database, for what has SQL of its own."""
    from tests.service.port import Port
    from tests.service.service import Service

    with ExitStack() as stack:
        yield Port.opened(Service.start(database_url, stack))


@pytest.fixture(scope="session")
def world_template(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Template]:
    """The world of the hostile tests, made once."""
    from tests.databases import copy, drop, with_database
    from tests.service.service import Service
    from tests.web.hostile.world import Template, build

    with ExitStack() as stack:
        if DATABASE == "postgres":
            databases = request.getfixturevalue("postgres_databases")
            name = copy(databases.server, databases.template)
            stack.callback(drop, databases.server, name)
            url = with_database(databases.server, name)
        else:
            file = tmp_path_factory.mktemp("world") / "world.db"
            shutil.copy(request.getfixturevalue("sqlite_template"), file)
            url = f"sqlite:///{file}"
        with ExitStack() as building:
            service = Service.start(url, building)
            world = build(service)
            service.engine.dispose()
            service.app.state.steelyard.engine.dispose()
        yield Template(url, world)


@pytest.fixture
def postman() -> Iterator[Postman]:
    """A mail server that keeps what it is sent."""
    from tests.service.postman import AnyPort, Postman

    handler = Postman()
    controller = AnyPort(handler, hostname="127.0.0.1", port=0)
    controller.start()
    handler.port = controller.port
    yield handler
    controller.stop()


@pytest.fixture
def mailing(service_url: str, postman: Postman) -> Iterator[Service]:
    """A server behind https that sends mails."""
    from tests.service.service import Service

    with ExitStack() as stack:
        yield Service.start(
            service_url,
            stack,
            sign_up="open",
            mail_url=f"smtp://127.0.0.1:{postman.port}",
            mail_from="Steelyard <steelyard@example.org>",
            public_url="https://mt.example.org",
        )


@pytest.fixture
def quick_hashing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Passwords cost next to nothing: for tests that try many."""
    from argon2 import PasswordHasher

    from campaigns.accounts import passwords

    monkeypatch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    passwords._dummy_hash.cache_clear()
    yield
    passwords._dummy_hash.cache_clear()
