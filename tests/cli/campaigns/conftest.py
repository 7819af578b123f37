"""What tests of `steelyard campaign` share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from models.schema.roles import SiteRole
from tests.cli.campaigns.commands import REFERENCE
from tests.client.live import Live
from tests.service.service import Service


@pytest.fixture(params=["database", "server"])
def service(
    request: pytest.FixtureRequest, sqlite_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Service]:
    """Accounts and teams, in the database of the commands, which they reach themselves or through a server."""
    monkeypatch.setenv("STEELYARD_DATABASE_URL", sqlite_url)
    with ExitStack() as stack:
        if request.param == "database":
            yield Service.start(sqlite_url, stack)
            return
        live = Live.start(sqlite_url, stack)
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        monkeypatch.setenv("STEELYARD_SERVER", live.url)
        monkeypatch.setenv("STEELYARD_TOKEN", live.token(live.service.account("root", SiteRole.ADMINISTRATOR)))
        yield live.service


@pytest.fixture
def news(service: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of a test set, and an output `out.txt` beside it, where commands are run."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "news"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "A.txt").write_text(REFERENCE)
    (folder / "source.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "out.txt").write_text(REFERENCE.replace("over", "up"))
    return folder
