"""Whether a verb works on a server or on a database: what is named counts, before what the environment says."""

from __future__ import annotations

from typing import Any

import click
import httpx
import pytest

from steelyard.commands.errors import UsageError
from steelyard_client.commands import backend

HERE, THERE, DATABASE = "https://here.example.org", "https://there.example.org", "sqlite:///other.db"


@pytest.fixture(autouse=True)
def _stored_nowhere(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("STEELYARD_TOKEN", "secret")
    monkeypatch.delenv(backend.SERVER, raising=False)


@pytest.mark.parametrize(
    ("named", "environment", "server", "opened"),
    [
        ((None, None, None), None, backend.ADDRESS, [(None, None)]),
        ((None, None, None), THERE, THERE, []),
        ((HERE, None, None), THERE, HERE, []),
        ((None, DATABASE, None), THERE, backend.ADDRESS, [(DATABASE, None)]),
        ((None, None, "ann@example.org"), THERE, backend.ADDRESS, [(None, "ann@example.org")]),
        ((None, DATABASE, "nobody"), None, backend.ADDRESS, [(DATABASE, "nobody")]),
    ],
)
def test_what_is_named_counts(
    named: tuple[str | None, str | None, str | None], environment: str | None, server: str,
    opened: list[tuple[str | None, str | None]], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if environment:
        monkeypatch.setenv(backend.SERVER, environment)
    asked: list[Any] = []

    def transport(database: str | None, account: str | None) -> httpx.MockTransport:
        asked.append((database, account))
        return httpx.MockTransport(lambda _: httpx.Response(200, json={}))

    monkeypatch.setattr(backend, "database_transport", transport)
    with click.Context(click.Command("steelyard")), backend.connected(*named) as client:
        assert client.server == server
        assert (client in backend.DATABASES) == bool(opened)
        sent = client._http.build_request("GET", "/me").headers
        # The token of servers is shown to no database.
        assert ("Authorization" in sent) == (not opened)
    assert asked == opened


@pytest.mark.parametrize(
    ("named", "said"),
    [((HERE, DATABASE, None), "not both"), ((HERE, None, "ann@example.org"), "--as is for a database")],
)
def test_what_excludes_each_other(named: tuple[str | None, str | None, str | None], said: str) -> None:
    with click.Context(click.Command("steelyard")), pytest.raises(UsageError, match=said), backend.connected(*named):
        pass


def test_a_server_may_be_named_before_the_verb() -> None:
    root = click.Context(click.Group("steelyard"))
    root.params["server"] = HERE
    with click.Context(click.Command("list"), parent=root), backend.connected(None, None, None) as client:
        assert client.server == HERE
    with click.Context(click.Command("list"), parent=root), pytest.raises(UsageError, match="not both"):
        backend.connected(None, DATABASE, None).__enter__()
