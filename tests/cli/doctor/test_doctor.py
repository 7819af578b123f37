"""`steelyard doctor`: each fault of an installation is caused, found, and comes with what to do."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, text

from cli.doctor.environment import check_variables
from cli.doctor.finding import Level
from cli.main import main
from models.database.session import make_engine, writing
from models.schema.accounts import Account
from models.schema.base import now
from models.schema.queue import Worker
from models.schema.roles import SiteRole
from scheduler.leader import Leadership
from tests.collector import Collector
from tests.servers import free_port


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def examined(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    status = main(["doctor", "-f", "json", *arguments])
    return status, {row["check"]: row for row in json.loads(capsys.readouterr().out)}


def add_worker(url: str, **columns: Any) -> None:
    row = {"id": "w", "host": "h", "pid": 7, "version": "1", "concurrency": 2, "beat_at": now() + 3600.0} | columns
    with writing(make_engine(url, pooled=False)) as connection:
        connection.execute(insert(Worker).values(**row))


def test_a_database_without_tables_is_not_created(capsys):
    status, found = examined(capsys)
    assert status == 1
    assert found["database"]["level"] == "problem"
    assert found["database"]["fix"] == "Run `steelyard db upgrade`."
    assert not Path("steelyard.db").exists()


def test_an_installation_at_work(database_url, capsys):
    add_worker(database_url)
    with writing(make_engine(database_url, pooled=False)) as connection:
        connection.execute(insert(Account).values(email="a@b.c", name="Ann", role=SiteRole.ADMINISTRATOR))
    lead = Leadership(database_url, 60.0)
    assert lead.acquire()
    try:
        _, found = examined(capsys, "--database", database_url)
    finally:
        lead.release()
    # The tests' PostgreSQL need not survive a crash.
    assert {name for name, row in found.items() if row["level"] == "problem"} <= {"PostgreSQL"}
    assert found["PostgreSQL"]["found"].startswith("fsync is off") if "PostgreSQL" in found else found["SQLite"]
    for check in ("database", "scheduler", "workers", "accounts", "resources", "statistics"):
        assert found[check]["level"] == "ok"
    assert found["workers"]["found"] == "1 with 2 processes, version 1"


def test_a_collector_of_traces(sqlite_url, capsys, monkeypatch):
    assert "traces" not in examined(capsys, "--no-web", "--database", sqlite_url)[1]
    with Collector() as collector:
        monkeypatch.setenv("STEELYARD_TRACES_URL", collector.url)
        assert examined(capsys, "--no-web", "--database", sqlite_url)[1]["traces"]["level"] == "ok"
    assert not collector.spans
    found = examined(capsys, "--no-web", "--database", sqlite_url)[1]["traces"]
    assert found["level"] == "warning"
    assert "correct STEELYARD_TRACES_URL" in found["fix"]
    monkeypatch.setattr("runtime.tracing.find_spec", lambda _: None)
    found = examined(capsys, "--no-web", "--database", sqlite_url)[1]["traces"]
    assert found["level"] == "problem"
    assert "steelyard-server[traces]" in found["found"]


def test_nobody_works_for_a_broker(redis_url, sqlite_url, capsys, monkeypatch):
    monkeypatch.setenv("STEELYARD_BROKER_URL", redis_url)
    status, found = examined(capsys, "--database", sqlite_url)
    assert status == 1
    assert found["broker"]["level"] == "ok"
    assert found["Redis"]["level"] == "ok"
    assert (found["scheduler"]["level"], found["workers"]["level"]) == ("problem", "problem")


def test_redis_that_drops_messages(redis_url, sqlite_url, capsys, monkeypatch):
    from redis import Redis

    monkeypatch.setenv("STEELYARD_BROKER_URL", redis_url)
    with Redis.from_url(redis_url) as redis:
        before = redis.config_get("maxmemory*")
        redis.config_set("maxmemory", 2**30)
        redis.config_set("maxmemory-policy", "allkeys-lru")
        try:
            _, found = examined(capsys, "--database", sqlite_url)
        finally:
            redis.config_set("maxmemory-policy", before["maxmemory-policy"])
            redis.config_set("maxmemory", before["maxmemory"])
    assert found["Redis"]["level"] == "warning"
    assert "allkeys-lru" in found["Redis"]["found"]


def test_a_broker_that_is_away(sqlite_url, capsys, monkeypatch):
    monkeypatch.setenv("STEELYARD_BROKER_URL", f"redis://:hunter2@127.0.0.1:{free_port()}/0")
    status = main(["doctor", "--database", sqlite_url])
    out = capsys.readouterr().out
    assert (status, "hunter2" in out) == (1, False)
    assert "Start it, or correct STEELYARD_BROKER_URL." in out


def test_workers_of_two_releases(sqlite_url, capsys):
    add_worker(sqlite_url)
    add_worker(sqlite_url, id="v", version="2")
    _, found = examined(capsys, "--database", sqlite_url)
    assert found["workers"]["level"] == "warning"
    assert "1, 2" in found["workers"]["found"]


def test_tables_of_another_release(database_url, capsys):
    with writing(make_engine(database_url, pooled=False)) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '20200101'"))
    status, found = examined(capsys, "--database", database_url)
    assert status == 1
    assert found["database"]["fix"] == "Run `steelyard db upgrade`."
    assert "workers" not in found


def test_a_pooler_between_two_transactions(postgres_url, empty_postgres_url, capsys, monkeypatch):
    # Notifications belong to one database: from here none of the other arrive.
    monkeypatch.setenv("STEELYARD_LISTEN_URL", empty_postgres_url)
    monkeypatch.setattr("cli.doctor.database.NOTIFIED_SECONDS", 0.2)
    _, found = examined(capsys, "--database", postgres_url)
    assert found["notifications"]["level"] == "warning"
    assert "STEELYARD_LISTEN_URL" in found["notifications"]["fix"]
    monkeypatch.delenv("STEELYARD_LISTEN_URL")
    monkeypatch.undo()
    _, found = examined(capsys, "--database", postgres_url)
    assert found["notifications"]["level"] == "ok"


def test_a_store_that_cannot_be_written(sqlite_url, tmp_path, capsys, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("STEELYARD_STATISTICS_URL", f"file://{tmp_path}/file/store")
    status, found = examined(capsys, "--database", sqlite_url)
    assert (status, found["statistics"]["level"]) == (1, "problem")
    monkeypatch.setenv("STEELYARD_STATISTICS_URL", f"file://{tmp_path}/store")
    status, found = examined(capsys, "--database", sqlite_url)
    assert (status, found["statistics"]["level"]) == (0, "ok")


@pytest.mark.parametrize(
    ("settings", "check", "level"),
    [
        ({"WEB_HOST": "0.0.0.0"}, "public address", "problem"),
        ({"PUBLIC_URL": "http://mt.example.org"}, "public address", "warning"),
        ({"PUBLIC_URL": "http://localhost:8718"}, "public address", "ok"),
        ({"PUBLIC_URL": "https://mt.example.org"}, "proxies", "warning"),
        ({"PUBLIC_URL": "https://mt.example.org", "TRUSTED_PROXIES": "127.0.0.1"}, "proxies", None),
        ({}, "accounts", "warning"),
        ({}, "mails", "warning"),
        ({"MAIL_URL": "nothing"}, "mails", "problem"),
    ],
)
def test_the_web_service(settings, check, level, sqlite_url, capsys, monkeypatch):
    for name, value in settings.items():
        monkeypatch.setenv(f"STEELYARD_{name}", value)
    _, found = examined(capsys, "--database", sqlite_url)
    assert found.get(check, {"level": None})["level"] == level
    _, found = examined(capsys, "--database", sqlite_url, "--no-web")
    assert check not in found


@pytest.fixture
def mail_server() -> Iterator[tuple[int, list[bytes]]]:
    """The port of a mail server, and what it is told."""
    told: list[bytes] = []

    def serve() -> None:
        client, _ = listening.accept()
        with client, client.makefile("rb") as lines:
            client.sendall(b"220 here\r\n")
            for line in lines:
                told.append(line)
                client.sendall(b"221 bye\r\n" if line.upper().startswith(b"QUIT") else b"250 fine\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1], told
        thread.join()


def test_a_mail_server_is_greeted_and_sent_nothing(mail_server, sqlite_url, capsys, monkeypatch):
    port, told = mail_server
    monkeypatch.setenv("STEELYARD_MAIL_URL", f"smtp://127.0.0.1:{port}")
    _, found = examined(capsys, "--database", sqlite_url)
    assert found["mails"]["level"] == "ok"
    assert [line.split()[0].upper() for line in told] == [b"EHLO", b"QUIT"]


def test_variables_that_nothing_reads():
    found = check_variables({"STEELYARD_MAX_ATEMPTS": "4", "STEELYARD_TOKEN": "x", "HOME": "/"})
    assert found.level is Level.WARNING
    assert found.fix == "STEELYARD_MAX_ATEMPTS is perhaps STEELYARD_MAX_ATTEMPTS."
    assert check_variables({"STEELYARD_MAX_ATTEMPTS": "4", "STEELYARD_SERVER": "x"}).level is Level.OK
    assert check_variables({"steelyard_max_attempts": "4", "Steelyard_Server": "x"}).level is Level.OK, "read as well"
    assert (
        check_variables({"steelyard_max_atempts": "4"}).fix
        == "steelyard_max_atempts is perhaps STEELYARD_MAX_ATTEMPTS."
    )


def test_a_wrong_value_is_named(monkeypatch, capsys):
    monkeypatch.setenv("STEELYARD_MAX_ATTEMPTS", "many")
    assert main(["doctor"]) == 2
    assert "STEELYARD_MAX_ATTEMPTS" in capsys.readouterr().err


START = "Start it, or correct STEELYARD_DATABASE_URL (and PGPASSWORD)."


def test_a_database_that_is_away_or_refuses_is_said_without_its_password(postgres_url, tmp_path, capsys):
    port, elsewhere = free_port(), postgres_url.rpartition("/")[0] + "/elsewhere"
    (tmp_path / "notes.db").write_text("no database, but longer than the header of one. " * 9)
    for url, says, fix in (
        (
            f"postgresql://me:hunter2@127.0.0.1:{port}/x",
            f'connection to server at "127.0.0.1", port {port} fail',
            START,
        ),
        (elsewhere, 'database "elsewhere" does not exist', START),
        ("sqlite:///notes.db", "file is not a database", "Correct STEELYARD_DATABASE_URL."),
    ):
        status, found = examined(capsys, "--database", url)
        assert (status, found["database"]["level"], found["database"]["fix"]) == (1, "problem", fix)
        assert says in found["database"]["found"]
        assert "hunter2" not in str(found)
        assert not found.keys() & {"scheduler", "workers", "accounts"}


def test_redis_that_does_not_tell_its_settings(redis_url, sqlite_url, capsys, monkeypatch):
    from redis import Redis

    with Redis.from_url(redis_url) as redis:
        redis.acl_setuser(
            "quiet", enabled=True, passwords=["+hunter2"], keys="*", channels="*", commands=["+@all", "-info"]
        )
        try:
            monkeypatch.setenv("STEELYARD_BROKER_URL", redis_url.replace("redis://", "redis://quiet:hunter2@"))
            _, found = examined(capsys, "--no-web", "--database", sqlite_url)
        finally:
            redis.acl_deluser("quiet")
    assert (found["broker"]["level"], found["Redis"]["level"], found["Redis"]["fix"]) == (
        "ok", "warning", "Allow the command INFO.",
    )  # fmt: skip
    assert found["Redis"]["found"].startswith("it does not tell its settings: ")
    assert "hunter2" not in str(found)


def test_a_registered_file_that_is_gone(sqlite_url, tmp_path, capsys, monkeypatch):
    from steelyard.metrics.resources import Resources

    monkeypatch.setenv("STEELYARD_RESOURCE_FOLDER", str(tmp_path / "resources"))
    (tmp_path / "lemmas.tsv").write_text("cats\tcat\n")
    Resources(tmp_path / "resources").register("lemmas", "file", tmp_path / "lemmas.tsv")
    _, found = examined(capsys, "--no-web", "--database", sqlite_url)
    assert (found["resources"]["level"], found["resources"]["found"].partition(" in ")[0]) == ("ok", "1 registered")
    (kept,) = (tmp_path / "resources").glob("*/lemmas.tsv")
    kept.unlink()
    status, found = examined(capsys, "--no-web", "--database", sqlite_url)
    assert (status, found["resources"]["level"]) == (1, "problem")
    assert found["resources"]["found"].startswith("The file lemmas@")
    assert found["resources"]["fix"] == "Mount STEELYARD_RESOURCE_FOLDER on every worker, or register it again."


def test_a_store_that_loses_what_it_is_given(sqlite_url, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("STEELYARD_STATISTICS_URL", f"file://{tmp_path}/store")
    monkeypatch.setattr("models.storage.blobs.find_lost_objects", lambda addresses: list(addresses))
    status, found = examined(capsys, "--no-web", "--database", sqlite_url)
    assert (status, found["statistics"]["found"]) == (1, "what was written cannot be read back")

    def broken(_: object) -> None:
        raise ValueError("no such bucket")

    monkeypatch.setattr("models.storage.blobs.find_lost_objects", broken)
    status, found = examined(capsys, "--no-web", "--database", sqlite_url)
    assert (status, found["statistics"]["found"]) == (1, "ValueError: no such bucket")
    assert found["statistics"]["fix"].startswith("Correct STEELYARD_STATISTICS_URL, and the store's user")


def test_the_documentation_is_served_where_it_was_built(sqlite_url, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("web.pages.documentation.SITE", tmp_path / "site")
    assert examined(capsys, "--database", sqlite_url)[1]["documentation"]["fix"] == "Run `make docs`."
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").touch()
    found = examined(capsys, "--database", sqlite_url)[1]["documentation"]
    assert (found["level"], found["found"]) == ("ok", "served under /docs")
