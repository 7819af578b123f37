"""`steelyard serve`: pages and API from a process of its own, until it is stopped."""

import json
import re
import signal
import socket
from urllib.request import urlopen

import pytest

from cli.main import main
from models.database.session import make_engine, writing
from runtime.service_settings import WebSettings
from scheduler.errors import OtherTables
from tests.acceptance.commands import running, steelyard_here, wait_for
from tests.servers import free_port
from web import serving


def test_it_serves_says_how_it_is_and_stops_in_order(tmp_path, capsys):
    port, log = free_port(), tmp_path / "serve.log"
    settings = {"STEELYARD_LOG_FORMAT": "json", "STEELYARD_HTTP_PORT": str(port)}
    with running("serve", "--host", "localhost", cwd=tmp_path, **settings) as serve:
        wait_for(lambda: "There is no account yet." in log.read_text())
        url = re.search(r"Steelyard is at (\S+)/\n", log.read_text())[1]
        link = re.search(r"http\S+/invitations/(\S+)", log.read_text())
        assert urlopen(f"{url}/?secret=hidden").status == 200
        assert main(["health", "web", "--http", str(port)]) == 0
        assert capsys.readouterr().out.splitlines()[0] == "web: well"
        assert main(["health", "worker", "--http", str(port)]) == 1
        serve.send_signal(signal.SIGINT)
        assert serve.wait(60) == 0
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    asked = next(line for line in lines if line.get("route") == "/")
    assert (asked["status"], asked["role"], asked["message"]) == (200, "web", "GET /: 200")
    assert lines[-1]["message"] == "Stopped serving"
    assert not any("hidden" in str(line) or link[1] in str(line) for line in lines)


def test_it_stops_when_the_tables_become_those_of_a_release_that_it_does_not_know(tmp_path, sqlite_url, monkeypatch):
    monkeypatch.setattr(serving, "SCHEMA_CHECK_SECONDS", 0.05)
    settings = WebSettings(database_url=sqlite_url, web_port=0)

    def upgrade(_address, _port):
        engine = make_engine(sqlite_url, pooled=False)
        with writing(engine) as connection:
            connection.exec_driver_sql("UPDATE alembic_version SET version_num = '99990101'")
            connection.exec_driver_sql("UPDATE compatibility SET oldest = '99990101'")

    with pytest.raises(OtherTables, match="Install the newer release"):
        serving.serve(settings, upgrade)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--port", "65536"], 2, "65536"),
        (["--port", "x"], 2, "not a whole number"),
        (["--database", "nonsense"], 1, "is not a database URL"),
    ],
)
def test_what_cannot_be_served(arguments, status, said, tmp_path):
    ended = steelyard_here("serve", *arguments, cwd=tmp_path)
    assert ended.returncode == status
    assert said in ended.stderr


def test_an_address_that_is_taken(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = steelyard_here("serve", "--port", str(port), cwd=tmp_path)
    assert ended.returncode == 1
    assert f"Pages cannot be served on 127.0.0.1:{port}: Address already in use." in ended.stderr
