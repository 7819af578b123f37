"""The certificate of PostgreSQL expires while work goes on, and is renewed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url

from tests.faults.cluster import SHORT_TIMES, Cluster
from tests.faults.drills.drill import SLOW, calm, ends_as, in_the_middle, says, start
from tests.faults.servers.postgres import OwnPostgres

pytestmark = [pytest.mark.faults, pytest.mark.long]

AUTHORITY = """
[ca]
default_ca = ours
[ours]
dir = {folder}
database = $dir/index
new_certs_dir = $dir
serial = $dir/serial
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
"""


class Authority:
    """Issues certificates for 127.0.0.1, valid when we like."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "ca.cnf").write_text(AUTHORITY.format(folder=folder))
        (folder / "index").touch()
        (folder / "serial").write_text("01")
        self.root = folder / "root.pem"
        self._openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "root.key", "-out", "root.pem", "-days", "30",
            "-subj", "/CN=Steelyard's drill",
        )  # fmt: skip
        self._openssl(
            "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", "server.key", "-out", "server.csr",
            "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
        )  # fmt: skip

    def issue(self, begin: str, end: str, into: Path) -> None:
        """Write key and certificate for the server, valid between two times (YYYYMMDDHHMMSSZ)."""
        self._openssl(
            "ca", "-batch", "-config", "ca.cnf", "-keyfile", "root.key", "-cert", "root.pem", "-in", "server.csr",
            "-out", "server.pem", "-startdate", begin, "-enddate", end, "-notext",
        )  # fmt: skip
        for name, there in (("server.key", "server.key"), ("server.pem", "server.crt")):
            shutil.copy(self.folder / name, into / there)
            (into / there).chmod(0o600)
            if os.geteuid() == 0:
                shutil.chown(into / there, "nobody")

    def _openssl(self, *arguments: str) -> None:
        ran = subprocess.run(["openssl", *arguments], cwd=self.folder, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr


VALID = ("20200101000000Z", "20991231000000Z")
EXPIRED = ("20200101000000Z", "20200201000000Z")


@pytest.fixture
def postgres() -> Iterator[OwnPostgres]:
    with OwnPostgres() as server:
        yield server


def test_it_expires(
    tmp_path: Path,
    postgres: OwnPostgres,
    redis_url: str,
    sqlite_template: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    expected = calm(sqlite_template, tmp_path, SLOW)
    authority, data = Authority(tmp_path_factory.mktemp("authority")), postgres.home / "data"
    authority.issue(*VALID, data)
    with (data / "postgresql.auto.conf").open("a") as file:
        file.write("ssl = on\n")
    postgres.reload()
    checked = {"sslmode": "verify-full", "sslrootcert": str(authority.root)}
    url = make_url(postgres.new_database()).update_query_dict(checked).render_as_string()
    with Cluster(tmp_path, url, redis_url, **SHORT_TIMES) as cluster:
        start(cluster)
        SLOW.queue(cluster.engine)
        in_the_middle(cluster)
        authority.issue(*EXPIRED, data)
        postgres.reload()
        # Who is connected stays so; new connections are refused.
        postgres.cut()
        says(cluster, "certificate verify failed", "worker", "scheduler")
        authority.issue(*VALID, data)
        postgres.reload()
        ends_as(cluster, expected)
