"""`steelyard user`, `token` and `team`."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest
from sqlalchemy import select, update

from cli.main import main
from models.database.session import make_engine, reading, writing
from models.schema.accounts import Account, ApiToken, AuditEntry
from tests.cli.keyboard import answer

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
    assert "no terminal" in run("user", "update", "mary@example.org", "--disable", status=1)
    assert "last administrator" in run("user", "update", "root@example.org", "--role", "viewer", status=1)
    assert ": disabled." in run("user", "update", "mary@example.org", "--disable", "--yes")
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


def test_tokens_are_made_and_revoked(run: Run, sqlite_url: str) -> None:
    run("user", "create", "mary@example.org", "--name", "Mary")
    token = run("token", "create", "mary@example.org", "--scope", "read", "--days", "7").strip()
    assert token.startswith("sty_")
    listed = run("token", "list", "mary@example.org")
    assert "good" in listed
    assert token not in listed
    assert "no terminal" in run("token", "delete", "mary@example.org", "1", status=1)
    assert "revoked" in run("token", "delete", "mary@example.org", "1", "--yes")
    assert "365 days" in run("token", "create", "mary@example.org", "--days", "366", status=1)
    run("token", "create", "mary@example.org", "--name", "laptop")
    run("token", "create", "mary@example.org", "--scope", "organise")
    engine = make_engine(sqlite_url)
    with reading(engine) as connection:
        rows = connection.execute(select(ApiToken.created_at, ApiToken.expires_at).order_by(ApiToken.id)).all()
    assert [round((row.expires_at - row.created_at) / 86400) for row in rows] == [7, 90, 90]
    with writing(engine) as connection:
        connection.execute(update(ApiToken).where(ApiToken.id == 2).values(expires_at=1.0))
    listed = json.loads(run("token", "list", "mary@example.org", "-f", "json"))
    assert [[each[name] for name in ("id", "name", "scopes", "used_at", "state")] for each in listed] == [
        [3, "command line", ["organise"], None, "good"],
        [2, "laptop", ["read", "submit"], None, "expired"],
        [1, "command line", ["read"], None, "revoked"],
    ]


def test_a_password_that_was_mistyped_or_left_empty_changes_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch, sqlite_url: str
) -> None:
    run("user", "create", "mary@example.org", "--name", "Mary")
    typed: list[str] = []
    monkeypatch.setattr("getpass.getpass", lambda _: typed.pop(0))
    for answers, says in (
        ([PASSWORD, PASSWORD + "x"], "The two passwords are not the same. Nothing was changed."),
        (["", ""], "The password is empty. Nothing was changed."),
    ):
        typed[:] = answers
        answer(monkeypatch, "")
        assert run("user", "password", "mary@example.org", status=1) == f"steelyard: {says}\n"
        with reading(make_engine(sqlite_url)) as connection:
            assert connection.scalar(select(Account.password_hash)) is None
    typed[:] = [PASSWORD, PASSWORD]
    assert run("user", "password", "mary@example.org") == "mary@example.org: the password is set.\n"
