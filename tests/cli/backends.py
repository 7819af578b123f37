"""A command on a database, as the command line, and the same command on a server, as an administrator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from cli.main import main
from models.schema.roles import SiteRole
from tests.client.live import Live

Run = Callable[..., str]


@pytest.fixture
def live(sqlite_url: str) -> Iterator[Live]:
    """A server on an empty database."""
    with ExitStack() as stack:
        yield Live.start(sqlite_url, stack)


@pytest.fixture(params=["database", "server"])
def run(
    request: pytest.FixtureRequest, live: Live, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Run:
    """Runs a command; what it printed, or (where a status is expected) what it complained of."""
    where = ["--database", live.service.settings.database_url]
    if request.param == "server":
        root = live.service.account("root", role=SiteRole.ADMINISTRATOR)
        monkeypatch.setenv("STEELYARD_TOKEN", live.token(root))
        where = ["--server", live.url]

    def call(*words: str, status: int = 0) -> str:
        found = main([*words, *where])
        printed = capsys.readouterr()
        assert found == status, printed.err
        return printed.err if status else printed.out

    return call
