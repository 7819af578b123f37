"""PgBouncer in transaction mode before a PostgreSQL (Debian's package)."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from sqlalchemy import make_url

from tests.servers import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

CONFIGURATION = """
[databases]
* = host={host} port={server_port} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
ignore_startup_parameters = options
max_client_conn = 5000
default_pool_size = {pool}
"""


def program() -> str | None:
    """The path of PgBouncer, which Debian puts where only root looks."""
    return shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")


@contextmanager
def pooled(url: str, connections: int = 40) -> Iterator[str]:
    """The URL of a PgBouncer that has so many connections to the server of this URL, as long as this is open."""
    found = program()
    if found is None:
        raise RuntimeError("There is no pgbouncer (Debian: apt install pgbouncer).")
    address, port = make_url(url), free_port()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        file = Path(folder) / "pgbouncer.ini"
        values = {"host": address.host, "server_port": address.port, "user": address.username}
        file.write_text(CONFIGURATION.format(**values, port=port, pool=connections))
        account = {"user": "nobody"} if os.geteuid() == 0 else {}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen([found, str(file)], **quiet, **account)  # type: ignore[call-overload]
        through = address.set(port=port).render_as_string(hide_password=False)
        try:
            for _ in range(200):
                try:
                    psycopg.connect(through, connect_timeout=2).close()
                    break
                except psycopg.OperationalError:
                    time.sleep(0.05)
            yield through
        finally:
            process.terminate()
            process.wait(30)
