"""`steelyard health`: what it finds, and its exit status."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace

import pytest
from sqlalchemy import insert

from cli.main import main
from models.database.session import make_engine, writing
from models.schema.base import now
from models.schema.queue import Worker
from runtime.health import Check, ProcessStatus
from scheduler.leader import Leadership
from tests.servers import free_port
from tests.worker.test_health_checks import served


def test_a_worker_by_its_row(database_url, capsys):
    arguments = ["health", "worker", "--database", database_url]
    assert main(arguments) == 1
    assert "worker: NO, responsive workers of" in capsys.readouterr().out
    with writing(make_engine(database_url, pooled=False)) as connection:
        row = {"id": "w", "host": socket.gethostname(), "pid": 7, "version": "1", "concurrency": 1, "beat_at": now()}
        connection.execute(insert(Worker).values(**row))
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith("worker: well\n  database: reachable, tables ")


def test_a_scheduler_by_its_term(database_url, capsys):
    arguments = ["health", "scheduler", "--database", database_url]
    assert main(arguments) == 1
    assert "no scheduler leads" in capsys.readouterr().out
    lead = Leadership(database_url, 60.0)
    assert lead.acquire()
    assert main(arguments) == 0
    lead.release()
    assert main(arguments) == 1


def test_a_database_that_is_away(capsys):
    assert main(["health", "worker", "--database", f"postgresql://me:hunter2@127.0.0.1:{free_port()}/x"]) == 1
    out = capsys.readouterr().out
    assert "database: NO, " in out
    assert "hunter2" not in out


def test_a_process_by_its_answer(capsys, monkeypatch):
    state = {"ok": True}
    question = lambda: Check("mood", state["ok"], "it rains")  # noqa: E731
    with served(ProcessStatus("worker", [], [question], [])) as port:
        assert main(["health", "worker", "--http", str(port)]) == 0
        assert capsys.readouterr().out == "worker: well\n  mood: it rains\n"
        monkeypatch.setenv("STEELYARD_HTTP_PORT", str(port))
        monkeypatch.setenv("STEELYARD_HTTP_HOST", "0.0.0.0")
        state["ok"] = False
        assert main(["health", "--http"]) == 1
        assert capsys.readouterr().out == "worker: not well\n  mood: NO, it rains\n"
        assert main(["health", "--http", "--live"]) == 0
        assert main(["health", "scheduler", "--http", f"127.0.0.1:{port}"]) == 1
        assert "is a worker, not a scheduler" in capsys.readouterr().err
    assert main(["health", "--http"]) == 1
    assert "No answer from" in capsys.readouterr().err


def test_up_is_all_that_one_may_ask_for(capsys):
    with served(ProcessStatus("up", [], [lambda: Check("mood", True, "fine")], [])) as port:
        for role in ("worker", "scheduler", "web"):
            assert main(["health", role, "--http", str(port)]) == 0
            assert capsys.readouterr().out == "up: well\n  mood: fine\n"


@pytest.mark.parametrize("arguments", [[], ["worker", "--live"], ["--http"]])
def test_it_must_be_said_whose(arguments, capsys, monkeypatch):
    monkeypatch.delenv("STEELYARD_HTTP_PORT", raising=False)
    assert main(["health", *arguments]) == 2
    assert "steelyard: " in capsys.readouterr().err


@pytest.mark.parametrize("text", ["x", "1:2:x", ":80", "host:", "65536"])
def test_what_is_no_address(text, capsys):
    assert main(["worker", "--http", text]) == 2
    assert "is not PORT or HOST:PORT" in capsys.readouterr().err


@pytest.mark.parametrize(("status", "well"), [(200, True), (404, False), (503, False), (None, False)])
def test_the_pages_are_well_where_they_answer_with_a_file(status, well, sqlite_url, capsys, monkeypatch):
    asked = []

    class Pages:
        def __init__(self, host, port, **_):
            asked.append((host, port))

        def request(self, method, path):
            asked.append((method, path))

        def getresponse(self):
            if status is None:
                raise ConnectionRefusedError("nobody there")
            return SimpleNamespace(status=status)

        def close(self):
            asked.append("closed")

    monkeypatch.setattr("http.client.HTTPConnection", Pages)
    monkeypatch.setenv("STEELYARD_WEB_HOST", "0.0.0.0")
    monkeypatch.setenv("STEELYARD_WEB_PORT", "9001")
    assert main(["health", "web", "--database", sqlite_url]) == (0 if well else 1)
    assert asked == [("127.0.0.1", 9001), ("HEAD", "/static/site.css"), "closed"]
    printed = capsys.readouterr().out
    assert printed.startswith("web: well" if well else "web: not well")
    assert ("NO, " in printed) != well


@pytest.mark.parametrize(
    "answer", [b"<html>hello</html>", b'{"ok": true}', b'{"role": 1, "ok": true, "checks": [1]}', b"[]"]
)
def test_another_server_is_no_process_of_ours(answer, capsys):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        assert main(["health", "--http", str(server.server_port)]) == 1
        thread.join()
    told = capsys.readouterr()
    assert told.err == f"steelyard: The server at 127.0.0.1:{server.server_port} is not a Steelyard process.\n"
    assert told.out == ""
