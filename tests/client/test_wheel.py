"""The wheel of the client: few packages, and a client that works with these alone."""

import json
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from steelyard.metrics.metric import VERSION
from steelyard.text.names import visible as visible_of_library
from steelyard_client.version import VERSION as VERSION_OF_CLIENT
from steelyard_client.visible import visible
from tests.wheels import install_alone, requirements

FOLDER = Path(__file__).parents[2] / "client"

PROGRAM = """
import sys
from steelyard_client import Client
with Client(sys.argv[1]) as client:
    print(client.server)
    try:
        client.me()
    except Exception as error:
        print(type(error).__name__, error)
print(sorted({name.partition(".")[0] for name in sys.modules} & {"numpy", "sqlalchemy", "fastapi", "steelyard", "web"}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy, dist = tmp_path_factory.mktemp("copy") / "client", tmp_path_factory.mktemp("dist")
    shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__", "dist"))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(dist)]
    subprocess.run(command, cwd=copy, check=True, capture_output=True)
    (built,) = dist.glob("steelyard_client-*-py3-none-any.whl")
    return built


def test_it_has_the_package_and_its_types(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "steelyard_client/py.typed" in names
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"steelyard_client"}
    assert wheel.name.split("-")[1] == VERSION_OF_CLIENT == VERSION


def test_its_extra_brings_the_verbs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        (points,) = (name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt"))
        assert "Requires-Dist: steelyard; extra == 'cli'" in archive.read(metadata).decode()
        assert "client = steelyard_client.commands.verbs:VERBS" in archive.read(points).decode()


def test_it_brings_httpx_and_pydantic_alone(wheel: Path) -> None:
    assert {"httpx", "pydantic"} <= requirements(wheel)
    assert len(requirements(wheel)) <= 14
    assert not requirements(wheel) & {"numpy", "steelyard", "sqlalchemy", "fastapi"}


def test_it_works_where_there_is_nothing_else(wheel: Path, tmp_path: Path) -> None:
    class Stranger(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            refusal = {"error": {"code": "not_signed_in", "message": "Sign in.", "details": []}}
            self.send_response(401)
            self.end_headers()
            self.wfile.write(json.dumps(refusal).encode())

        def log_message(self, *_: object) -> None:
            pass

    alone = install_alone(wheel, tmp_path / "alone")
    with HTTPServer(("127.0.0.1", 0), Stranger) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        done = subprocess.run(
            [sys.executable, "-S", "-c", PROGRAM, url],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(alone)}, capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert done.stdout.splitlines() == [url, "NotSignedIn Sign in.", "[]"]


def test_texts_are_shown_as_the_library_shows_them() -> None:
    for code in range(sys.maxunicode + 1):
        assert visible(chr(code)) == visible_of_library(chr(code))
