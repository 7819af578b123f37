"""Passwords of databases, brokers and stores are shown nowhere, however somebody has written them."""

import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import make_url
from sqlalchemy.exc import DBAPIError

from campaigns.errors import BadTime, CampaignsError
from cli.errors import explained
from cli.main import main
from models.database.error_kinds import explain
from models.database.session import make_engine
from models.errors import BadStore, ModelsError
from models.schema.states import QueueClass
from models.storage.blobs import write_object
from runtime.errors import ProcessError
from runtime.logs import JsonLines, TextLines
from runtime.redaction import redacted, shown_url
from runtime.settings import Settings
from scheduler.errors import BadSchedule, SchedulerError
from worker.app import make_app
from worker.errors import BrokerAway, WorkerError
from worker.messaging.queues import count_messages

PARTS = ("hunt", "er2")

DATABASES = [
    "postgresql://me:hunt-er2@127.0.0.1:1/x",
    "postgresql://127.0.0.1:1/x?password=hunt-er2",
    "postgresql://127.0.0.1:1/x?user=me&p%61ssw%6Frd=hunt-er2",
    "postgresql://127.0.0.1:1/x?sslpassword=hunt-er2&sslmode=disable",
    "postgresql://127.0.0.1:1/x?passfile=/nowhere/hunt-er2",
    "postgresql://127.0.0.1:1/x?passwort=hunt-er2",
    "postgresql://me:hunt@er2@127.0.0.1:1/x",
    "postgresql://me:hunt/er2@127.0.0.1:1/x",
    "postgresql://me:hunt?er2@127.0.0.1:1/x",
    "postgresql://me:hunt#er2@127.0.0.1:1/x",
    "postgresql://me:hunt%40er2@127.0.0.1:1/x",
    "postgresql://me:hunt-er2@127.0.0.1:port/x",
    "postgresql://me:hunt-er2@127.0.0.1:99999/x",
    "postgresql://me:hunt-er2@127.0.0.1:0/x",
    "postgresql://me:hunt er2@127.0.0.1:1/x",
    "postgresql:/me:hunt-er2@127.0.0.1:1/x",
    "postgresql:me:hunt-er2@127.0.0.1:1/x",
    "postgresql://me:hunt-er2@127.0.0.1:1/x?port=none",
    "mysql://me:hunt-er2@127.0.0.1:1/x?password=hunt-er2",
    "sqlite+pysqlcipher:///nowhere/x.db?password=hunt-er2",
    "sqlite:////nowhere/x.db?password=hunt-er2",
    "host=127.0.0.1 port=1 password=hunt-er2",
]

BROKER_URLS = [
    "redis://:hunt-er2@127.0.0.1:port/0",
    "redis://:hunt-er2@127.0.0.1:99999/0",
    "redis://:hunt@er2@127.0.0.1:1/0",
    "redis://127.0.0.1:1/0?password=hunt-er2",
    "redis://127.0.0.1:1/0?p%61ssword=hunt-er2",
    "foo://:hunt-er2@127.0.0.1:1/0",
    "amqp://me:hunt-er2@127.0.0.1:1//;amqp://me:hunt-er2@127.0.0.1:port//",
    "hunt-er2",
]


def is_clean(said: str) -> bool:
    return not any(part in said for part in PARTS)


@pytest.mark.parametrize("url", DATABASES)
def test_commands_never_show_the_password_of_a_database(url, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in (["leaderboard", "--database", url], ["status", "--database", url]):
        assert main(words) == 1
        said = capsys.readouterr()
        assert said.err.startswith("steelyard: ")
        assert is_clean(said.err + said.out), said.err
        assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:a@host/x", "postgresql://me:***@host/x"),
        ("postgresql://host/x?sslmode=disable", "postgresql://host/x?sslmode=disable"),
        ("postgresql://host/x?passfile=b&odd=a", "postgresql://host/x?odd=***&passfile=***"),
        ("postgresql://host/x?odd=a&port=1", "postgresql://host/x?port=1&odd=***"),
    ],
)
def test_what_is_set_in_an_address_is_reported_and_its_values_only_where_they_are_harmless(url, shown):
    assert shown_url(make_url(url)) == shown


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgresql://me:a@b@host/x", 'There is more than one @ in "postgresql://...": write %40'),
        ("postgresql://me:a@host:port/x", 'The port in "postgresql://..." is not a number.'),
        (
            "postgresql://me:a@host:99999/x",
            "The port 99999 in postgresql://me:***@host:99999/x is not between 1 and 65535.",
        ),
    ],
)
def test_what_is_wrong_with_an_address_is_reported(url, told, capsys):
    assert main(["status", "--database", url]) == 1
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("url", [each for each in DATABASES if "127.0.0.1:1/" in each])
def test_no_error_of_a_driver_shows_a_password_in_the_log(url):
    formatters = [JsonLines({}), TextLines()]
    try:
        with make_engine(url, pooled=False).connect():
            pass
    except Exception as error:
        record = logging.LogRecord("x", logging.ERROR, "", 1, "It said %s", (error,), (type(error), error, None))
        told = [explain(error)] if isinstance(error, DBAPIError) else []
        for said in (*told, *(each.format(record) for each in formatters)):
            assert is_clean(said), said


@pytest.mark.parametrize("url", BROKER_URLS)
@pytest.mark.parametrize("verb", ["worker", "scheduler", "serve", "status"])
def test_commands_never_show_the_password_of_a_broker(verb, url, capsys, sqlite_url, monkeypatch):
    monkeypatch.setenv("STEELYARD_DATABASE_URL", sqlite_url)
    monkeypatch.setenv("STEELYARD_BROKER_URL", url)
    assert main([verb]) == 2
    said = capsys.readouterr().err
    assert said.startswith("steelyard: STEELYARD_BROKER_URL: ")
    assert is_clean(said), said


def test_a_broker_that_is_away_is_reported_without_its_password():
    settings = Settings(broker_url="redis://:hunt-er2@127.0.0.1:1/0")
    with pytest.raises(BrokerAway) as caught:
        count_messages(make_app(settings), QueueClass)
    assert is_clean(redacted(str(caught.value)))


def test_settings_do_not_show_addresses():
    settings = Settings(broker_url="redis://:hunt-er2@h/0", database_url="postgresql://h/x?password=hunt-er2")
    assert is_clean(repr(settings))
    assert is_clean(str(settings))


@pytest.mark.parametrize(
    "store",
    ["s3://key:hunt-er2@bucket/x", "s3://bucket/x?secret=hunt-er2", "foo://[hunt-er2", "foo:/key:hunt-er2@bucket"],
)
def test_a_store_that_cannot_be_used_is_reported_without_its_password(store):
    with pytest.raises(BadStore) as caught:
        write_object(b"", store)
    assert is_clean(str(caught.value)), caught.value


@pytest.mark.parametrize(
    "said",
    [
        "redis://:hunt-er2@h/0", "amqp://me:hunt'er2@h//", "{'password': 'hunt-er2', 'host': 'h'}",
        '{"host": "h", "password":"hunt-er2"}', "ConnectionPool(host=h,password=hunt-er2,db=0)",
        "host=h password='hunt er2' port=1", "https://h/x?access_token=hunt-er2&y=1", "?sslpassword=hunt,er2;x",
        "AWS_SECRET_ACCESS_KEY=hunt-er2", "aws_secret_access_key: hunt-er2",
        "postgresql:me:hunt-er2@h/x", "?passwort=hunt-er2", "?pass%77ord=hunt-er2", "PASSWORD = hunt-er2",
        "redis://u:hunt-er2@a;redis://u:hunt-er2@b", r'"{\"password\": \"hunt-er2\"}"', "b'password': b'hunt-er2'",
    ],
)  # fmt: skip
def test_texts_lose_their_passwords(said):
    assert is_clean(redacted(said)), redacted(said)
    assert "***" in redacted(said)


@pytest.mark.parametrize("said", ["https://mt.example.org/boards?level=0.95 token is missing", "a: b@c", "x" * 5000])
def test_other_texts_stay(said):
    assert redacted(said) == said


@pytest.mark.parametrize("part", ["a://x:", "a", "password", "password='", "://", "%70", "secret:"])
def test_a_long_text_takes_no_long_time(part):
    run = "from runtime.redaction import redacted; import sys; redacted(sys.argv[1] * 200000)"
    program = [sys.executable, "-c", run, part]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run(program, env=environment, timeout=60, check=False).returncode == 0


def test_addresses_are_shown_in_one_way():
    """SQLAlchemy's own way shows passwords among the options."""
    rooms = Path(__file__).parents[2]
    users = [
        str(file.relative_to(rooms))
        for room in ("analysis", "campaigns", "cli", "models", "runtime", "scheduler", "web", "worker")
        for file in (rooms / room).rglob("*.py")
        if re.search(r"render_as_string|hide_password|\.as_uri\(", file.read_text())
    ]
    assert users == ["runtime/redaction.py"]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        *((each, 1) for each in (CampaignsError, ModelsError, ProcessError, SchedulerError, WorkerError)),
        *((each, 2) for each in (BadSchedule, BadTime)),
    ],
)
def test_an_error_that_a_command_explains(kind, status):
    said, left_with = explained(kind("redis://me:hunt-er2@127.0.0.1:1/0 does not answer"))
    assert (said, left_with) == ("redis://me:***@127.0.0.1:1/0 does not answer", status)
