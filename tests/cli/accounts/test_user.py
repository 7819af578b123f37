"""`steelyard user`, `token` and `team`."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest
from sqlalchemy import select

from cli.main import main
from models.database.session import make_engine, reading, writing
from models.schema.accounts import Account, AuditEntry
from models.schema.campaigns import Campaign, Participation

PASSWORD = "correct horse battery"

Run = Callable[..., str]


@pytest.fixture
def run(sqlite_url: str, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command; what it printed, or (where a status is expected) what it complained of."""

    def call(*words: str, status: int = 0) -> str:
        assert main([*words, "--database", sqlite_url]) == status
        printed = capsys.readouterr()
        return printed.err if status else printed.out

    return call


def test_accounts_are_made_listed_and_changed(run: Run, monkeypatch: pytest.MonkeyPatch, sqlite_url: str) -> None:
    assert "There are no accounts" in run("user", "list")
    monkeypatch.setenv("STEELYARD_PUBLIC_URL", "https://mt.example.org/")
    out = run("user", "create", "Mary@example.org", "--name", "Mary", "--role", "organiser")
    assert "https://mt.example.org/password/" in out
    assert "already" in run("user", "create", "mary@example.org", "--name", "M", status=1)
    monkeypatch.setattr("sys.stdin", io.StringIO(PASSWORD + "\n"))
    run(
        "user",
        "create",
        "root@example.org",
        "--name",
        "Root",
        "--role",
        "administrator",
        "--set-password",
        "--verified",
    )
    monkeypatch.setattr("sys.stdin", io.StringIO("password123\n"))
    assert "too common" in run("user", "password", "mary@example.org", status=1)
    monkeypatch.setattr("sys.stdin", io.StringIO(PASSWORD + "\n"))
    assert "is set" in run("user", "password", "mary@example.org")
    assert "https://mt.example.org/password/" in run("user", "password", "mary@example.org", "--link")
    assert "viewer (was organiser)" in run("user", "update", "mary@example.org", "--role", "viewer")
    assert "last administrator" in run("user", "update", "root@example.org", "--role", "viewer", status=1)
    assert ": disabled." in run("user", "update", "mary@example.org", "--disable")
    lines = run("user", "list").splitlines()[1:]
    assert [line.split()[0] for line in lines[1:]] == ["mary@example.org", "root@example.org"]
    assert "not confirmed, disabled" in lines[1]
    assert "good" in lines[2]
    told = run("user", "update", "mary@example.org", "--enable", "--verified")
    assert told == "mary@example.org: enabled, the address is confirmed.\n"
    assert "mary@example.org" in run("user", "show", "mary@example.org")
    assert "Say what to change" in run("user", "update", "mary@example.org", status=2)
    assert "good" in run("user", "list", "MARY").splitlines()[2]
    assert "no account" in run("user", "update", "nobody@example.org", "--role", "viewer", status=1)
    with reading(make_engine(sqlite_url)) as connection:
        entries = connection.execute(select(AuditEntry)).all()
        hashes = connection.scalars(select(Account.password_hash)).all()
    assert {entry.actor for entry in entries} == {"command line"}
    assert {entry.action for entry in entries} >= {"account.add", "account.role", "account.disable", "account.password"}
    assert all(each is not None and PASSWORD not in each for each in hashes)


def test_tokens_are_made_and_revoked(run: Run) -> None:
    run("user", "create", "mary@example.org", "--name", "Mary")
    token = run("token", "create", "mary@example.org", "--scope", "read", "--days", "7").strip()
    assert token.startswith("sty_")
    listed = run("token", "list", "mary@example.org")
    assert "good" in listed
    assert token not in listed
    assert "no terminal" in run("token", "delete", "mary@example.org", "1", status=1)
    assert "revoked" in run("token", "delete", "mary@example.org", "1", "--yes")
    assert "365 days" in run("token", "create", "mary@example.org", "--days", "366", status=1)


def test_invitations_are_made(run: Run) -> None:
    run("team", "create", "harbour")
    assert "lead the team harbour" in run("user", "invite", "--team", "harbour", "--lead")
    assert "zoe@example.org to create an account (organiser)" in run(
        "user", "invite", "--email", "Zoe@example.org", "--role", "organiser"
    )
    assert "/invitations/" in run("user", "invite")
    assert "no team" in run("user", "invite", "--team", "pier", status=1)
    assert "--team NAME" in run("user", "invite", "--lead", status=2)
    assert "--campaign NAME" in run("user", "invite", "--as", "viewer", status=2)


def test_teams_are_made_filled_and_take_part(run: Run, sqlite_url: str) -> None:
    assert "There are no teams" in run("team", "list")
    for name in ("mary", "zoe"):
        run("user", "create", f"{name}@example.org", "--name", name)
    run("team", "create", "harbour", "--lead", "mary@example.org", "--affiliation", "Port")
    assert "already" in run("team", "create", "Harbour", status=1)
    assert "member of" in run("team", "update", "harbour", "--member", "zoe@example.org")
    assert "last lead" in run("team", "update", "harbour", "--remove", "mary@example.org", status=1)
    assert "lead of" in run("team", "update", "harbour", "--lead", "zoe@example.org")
    assert "not in" in run("team", "update", "harbour", "--remove", "mary@example.org")
    with writing(make_engine(sqlite_url)) as connection:
        connection.execute(Campaign.__table__.insert().values(name="regatta"))  # type: ignore[attr-defined]
    assert "takes part in regatta" in run("team", "join", "harbour", "regatta")
    assert "regatta" in run("team", "join", "harbour", "regatta", status=1) + run("team", "show", "harbour")
    assert "Port" in run("team", "list")
    document = json.loads(run("team", "show", "harbour", "-f", "json"))
    assert document["team"][0] | {"members": 0} == {
        "name": "harbour", "publication_name": "", "affiliation": "Port", "members": 0,
    }  # fmt: skip
    assert document["members"] == [{"email": "zoe@example.org", "name": "zoe", "role": "lead"}]
    assert document["campaigns"] == [{"campaign": "regatta"}]
    run("team", "update", "harbour", "--affiliation", "Pier")
    assert "Pier" in run("team", "list", "-f", "csv")
    with reading(make_engine(sqlite_url)) as connection:
        assert len(connection.execute(select(Participation)).all()) == 1
