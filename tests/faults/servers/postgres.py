"""A PostgreSQL of a test's own, to be stopped, killed and started again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from sqlalchemy import make_url

from models.database import migrate
from tests import servers
from tests.faults.cluster import children

STOP = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}
"""PostgreSQL's two hard ways of shutting down: connections are cut, and in the second case so is everything else."""


class OwnPostgres:
    """A server with nothing in it; gone at the end of the context."""

    def __init__(self, *settings: str) -> None:
        self._settings = settings
        # A short path: the name of the server's socket has a limit of 107 bytes.
        self.home = Path(tempfile.mkdtemp(prefix="steelyard-own-", dir="/tmp"))
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""

    def __enter__(self) -> OwnPostgres:
        self._process, self.url = servers.start_postgres(self.home, self.url, more=self._settings)
        return self

    def __exit__(self, *error: object) -> None:
        if self._process is not None:
            self.stop("immediate")
        shutil.rmtree(self.home, ignore_errors=True)

    def run(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs to its end, as who runs the server."""
        account = {"user": "nobody"} if os.geteuid() == 0 else {}
        command = [servers.reachable_programs(self.home) / program, *arguments]
        ran = subprocess.run(command, cwd=self.home, capture_output=True, text=True, check=False, **account)  # type: ignore[call-overload]
        assert ran.returncode == 0, ran.stderr

    def reload(self) -> None:
        """Let the server read its files again."""
        assert self._process is not None, "it does not run"
        self._process.send_signal(signal.SIGHUP)

    def stop(self, how: str) -> None:
        """Shut the server down."""
        assert self._process is not None, "it does not run"
        self._process.send_signal(STOP[how])
        self._process.wait(servers.START_SECONDS)
        self._process = None

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """A context in which connections stay, new ones can be opened, and nobody answers."""
        assert self._process is not None, "it does not run"
        processes = [self._process.pid, *children(self._process.pid)]
        for each in processes:
            os.kill(each, signal.SIGSTOP)
        try:
            yield
        finally:
            for each in processes:
                os.kill(each, signal.SIGCONT)

    def runs(self) -> bool:
        """Whether it has not ended by itself."""
        return self._process is not None and self._process.poll() is None

    def start_again(self) -> None:
        """Start the server after it has ended by itself."""
        self._process = None
        self.start()

    def start(self) -> None:
        """Start the server again, on the same port and the same files."""
        assert self._process is None, "it runs"
        self._process, self.url = servers.start_postgres(self.home, self.url, more=self._settings)

    def new_database(self) -> str:
        """The URL of a database with the schema of this release and no rows."""
        name = f"steelyard_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        url = make_url(self.url).set(database=name).render_as_string(hide_password=False)
        migrate.upgrade(url)
        return url

    def cut(self) -> int:
        """Cut all connections of clients; how many."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            return len(
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
                ).fetchall()
            )
