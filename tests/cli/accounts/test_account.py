"""`steelyard account` and `steelyard team`."""

from __future__ import annotations

import io
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
    assert "There are no accounts" in run("account", "list")
    monkeypatch.setenv("STEELYARD_PUBLIC_URL", "https://mt.example.org/")
    out = run("account", "add", "Mary@example.org", "--name", "Mary", "--role", "organiser")
    assert "https://mt.example.org/password/" in out
    assert "already" in run("account", "add", "mary@example.org", "--name", "M", status=1)
    monkeypatch.setattr("sys.stdin", io.StringIO(PASSWORD + "\n"))
    run(
        "account",
        "add",
        "root@example.org",
        "--name",
        "Root",
        "--role",
        "administrator",
        "--set-password",
        "--verified",
    )
    monkeypatch.setattr("sys.stdin", io.StringIO("password123\n"))
    assert "too common" in run("account", "password", "mary@example.org", status=1)
    monkeypatch.setattr("sys.stdin", io.StringIO(PASSWORD + "\n"))
    assert "is set" in run("account", "password", "mary@example.org")
    assert "https://mt.example.org/password/" in run("account", "password", "mary@example.org", "--link")
    assert "viewer (was organiser)" in run("account", "role", "mary@example.org", "viewer")
    assert "last administrator" in run("account", "role", "root@example.org", "viewer", status=1)
    assert "is disabled" in run("account", "disable", "mary@example.org")
    lines = run("account", "list").splitlines()[1:]
    assert [line.split()[0] for line in lines[1:]] == ["mary@example.org", "root@example.org"]
    assert "not confirmed, disabled" in lines[1]
    assert "good" in lines[2]
    run("account", "enable", "mary@example.org")
    run("account", "verify", "mary@example.org")
    assert "good" in run("account", "list", "MARY").splitlines()[2]
    assert "no account" in run("account", "role", "nobody@example.org", "viewer", status=1)
    with reading(make_engine(sqlite_url)) as connection:
        entries = connection.execute(select(AuditEntry)).all()
        hashes = connection.scalars(select(Account.password_hash)).all()
    assert {entry.actor for entry in entries} == {"command line"}
    assert {entry.action for entry in entries} >= {"account.add", "account.role", "account.disable", "account.password"}
    assert all(each is not None and PASSWORD not in each for each in hashes)


def test_tokens_are_made_and_revoked(run: Run) -> None:
    run("account", "add", "mary@example.org", "--name", "Mary")
    token = run("account", "token", "mary@example.org", "--scope", "read", "--days", "7").strip()
    assert token.startswith("sty_")
    listed = run("account", "tokens", "mary@example.org")
    assert "good" in listed
    assert token not in listed
    assert "revoked" in run("account", "tokens", "mary@example.org", "--revoke", "1")
    assert "365 days" in run("account", "token", "mary@example.org", "--days", "366", status=1)


def test_invitations_are_made(run: Run) -> None:
    run("team", "add", "harbour")
    assert "lead the team harbour" in run("account", "invite", "--team", "harbour", "--lead")
    assert "zoe@example.org to create an account (organiser)" in run(
        "account", "invite", "--email", "Zoe@example.org", "--role", "organiser"
    )
    assert "/invitations/" in run("account", "invite")
    assert "no team" in run("account", "invite", "--team", "pier", status=1)
    assert "--team NAME" in run("account", "invite", "--lead", status=2)
    assert "--campaign NAME" in run("account", "invite", "--as", "viewer", status=2)


def test_teams_are_made_filled_and_take_part(run: Run, sqlite_url: str) -> None:
    assert "There are no teams" in run("team", "list")
    for name in ("mary", "zoe"):
        run("account", "add", f"{name}@example.org", "--name", name)
    run("team", "add", "harbour", "--lead", "mary@example.org", "--affiliation", "Port")
    assert "already" in run("team", "add", "Harbour", status=1)
    assert "member of" in run("team", "member", "harbour", "zoe@example.org")
    assert "last lead" in run("team", "member", "harbour", "mary@example.org", "--remove", status=1)
    assert "lead of" in run("team", "member", "harbour", "zoe@example.org", "--role", "lead")
    assert "not in" in run("team", "member", "harbour", "mary@example.org", "--remove")
    with writing(make_engine(sqlite_url)) as connection:
        connection.execute(Campaign.__table__.insert().values(name="regatta"))  # type: ignore[attr-defined]
    assert "takes part in regatta" in run("team", "join", "harbour", "regatta")
    assert "regatta" in run("team", "join", "harbour", "regatta", status=1) + run("team", "list", "harbour")
    assert "Port" in run("team", "list")
    with reading(make_engine(sqlite_url)) as connection:
        assert len(connection.execute(select(Participation)).all()) == 1
