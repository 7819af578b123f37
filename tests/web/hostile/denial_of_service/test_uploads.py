"""Uploads that lie, burst, break off or come from somebody else; and what they leave behind: nothing."""

from __future__ import annotations

import bz2
import gzip
import io
import logging
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from models.database.session import reading
from models.schema.accounts import AuditEntry
from models.schema.corpus import Submission
from tests.web.hostile.world import PRIVATE, SCRIPT, Template, World
from tests.web.wire import Wire, served
from web.dependencies import SESSION_COOKIE

ADDRESS = f"/api/v1/campaigns/{PRIVATE}/submissions"
LINES = b"".join(b"line %d\n" % number for number in range(8))
MIB = 1 << 20


@pytest.fixture(scope="module")
def world(world_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """With limits that are soon reached; one for all tests here, since nothing that they try should change it."""
    with ExitStack() as stack:
        folder = tmp_path_factory.mktemp("uploads")
        yield world_template.copy(folder, stack, upload_bytes=3 * MIB, unpacked_bytes=4 * MIB)


def count(world: World) -> int:
    with reading(world.service.engine) as connection:
        return int(connection.scalar(select(func.count()).select_from(Submission)) or 0)


def send(client: TestClient, content: bytes, name: str = "out.txt", **fields: str) -> Any:
    data = {"system": "new", "team": "harbour", **fields}
    return client.post(ADDRESS, data=data, files={"file": (name, content)})


def zipped(*members: tuple[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def lying(content: bytes) -> bytes:
    """An archive that says that its member has eight bytes."""
    packed = bytearray(zipped(("a.txt", content)))
    for place in (22, packed.rindex(b"PK\x01\x02") + 24):
        packed[place : place + 4] = (8).to_bytes(4, "little")
    return bytes(packed)


BURSTING = {
    "too much": lambda: b"x\n" * (2 * MIB),
    "gzip": lambda: gzip.compress(b"x\n" * (5 * MIB), 1, mtime=0),
    "gzip in gzip": lambda: gzip.compress(gzip.compress(b"\0" * (4 * MIB), 9, mtime=0), 9, mtime=0),
    "many gzip members": lambda: gzip.compress(b"", mtime=0) * 50_000,
    "zip": lambda: zipped(("a.txt", b"x\n" * (5 * MIB))),
    "zip that lies": lambda: lying(b"x\n" * (5 * MIB)),
    "zip of thousands": lambda: zipped(*((f"{number}.txt", b"") for number in range(3000))),
    "zip of two": lambda: zipped(("a.txt", LINES), ("b.txt", LINES)),
    "zip in zip": lambda: zipped(("a.zip", zipped(("a.txt", LINES)))),
    "bzip2": lambda: bz2.compress(LINES),
    "endless line": lambda: b"x" * (2 * MIB),
    "millions of lines": lambda: b"\n" * MIB,
    "nothing": lambda: b"",
    "zeros": lambda: b"\0" * 1000,
}


@pytest.mark.parametrize("kind", BURSTING)
def test_what_bursts_is_refused_soon_and_leaves_nothing(world: World, kind: str) -> None:
    before, content = count(world), BURSTING[kind]()
    client = world.program("lead")
    begun = time.process_time()
    answer = send(client, content)
    assert answer.status_code in (413, 422), answer.text
    assert time.process_time() - begun < 10
    assert count(world) == before
    assert len(answer.text) < 10_000


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "..\\..\\windows\\win.ini",
        "/etc/cron.d/x",
        "C:\\x",
        "a\r\nSet-Cookie: x=y",
        'x"; filename="y',
        SCRIPT,
        ".",
        "",
        "x" * 5000,
        "\u202egpj.exe",
    ],
)
def test_names_of_files_lead_nowhere(world: World, name: str) -> None:
    client = world.program("lead")
    # Odd characters are written out where the name is said.
    said = client.post(ADDRESS, params={"system": "new", "file_name": name}, content=b"\xff")
    assert said.status_code == 422
    assert not set(" ".join(said.json()["error"]["details"])) & set("\r\u202e")
    assert len(said.text) < 1000
    answer = client.post(
        f"{ADDRESS}", data={"system": "new"}, files={"file": (name or "x", zipped((name or "x", LINES)))}
    )
    assert answer.status_code in (200, 201, 400, 422), answer.text
    if answer.status_code < 300:
        got = client.get(f"/api/v1/submissions/{answer.json()['id']}/output")
        assert got.content == LINES
        assert got.headers["Content-Disposition"].startswith("attachment; filename=")
        assert got.headers["X-Content-Type-Options"] == "nosniff"
        assert got.headers["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize(
    "value", ["../x", "a/b", "a\0b", "\u202ex", SCRIPT, "x" * 6000, "=cmd|' /C calc'!A0", "\ud800"]
)
def test_odd_names_are_refused_or_kept_as_they_are(world: World, value: str) -> None:
    for field in ("system", "run", "team", "test_set", "description"):
        _try_name(world, field, value)


def _try_name(world: World, field: str, value: str) -> None:
    before = count(world)
    client = world.program("lead")
    fields = {"system": "new", "team": "harbour", "test_set": "", field: value}
    content = "multipart" if "\ud800" not in value else ""
    if content:
        answer = send(client, LINES, **fields)
    else:
        answer = client.post(f"{ADDRESS}?system=new&{field}=%ED%A0%80", content=LINES)
    kept = field == "description" and len(value) < 5000 and "\0" not in value
    assert answer.status_code < 500, answer.text
    if answer.status_code < 300:
        assert kept or (field, value[0]) in (("system", "="), ("run", "=")), answer.text
    else:
        assert count(world) == before


def test_an_upload_that_breaks_off_leaves_nothing(world: World) -> None:
    before = count(world)
    secret = world.tokens["lead"]
    head = (
        f"POST {ADDRESS}?system=broken&team=harbour HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {secret}\r\n"
        "Content-Type: text/plain\r\nContent-Length: 56\r\n\r\n"
    )
    with served(world.service.app) as port:
        for cut in (0, 20, 55):
            with Wire(port) as wire:
                wire.send(head, LINES[:cut])
        with Wire(port) as wire:
            wire.send(head.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"), LINES)
            assert wire.answer()[0] == 201
    assert count(world) == before + 1


def test_what_people_send_and_know_is_not_logged(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client = world.program("lead")
    assert send(client, LINES, system="said", description="canarydescription").status_code == 201
    assert send(client, LINES[:-3] + b"canaryline\xff").status_code == 422
    world.service.client(cookies={SESSION_COOKIE: world.sessions["lead"]}).get("/?token=canaryquery")
    world.service.client().post(
        "/api/v1/tokens", json={"name": "x", "email": "x@example.org", "password": "canarypass"}
    )
    said = "\n".join(
        f"{record.getMessage()} {record.exc_text}" for record in caplog.records if not record.name.startswith("httpx")
    )
    for word in (*world.secrets(), "canarydescription", "canaryline", "canaryquery", "canarypass"):
        assert word not in said
    with reading(world.service.engine) as connection:
        entries = connection.execute(select(AuditEntry)).all()
    assert entries
    audited = "\n".join(f"{row.subject} {row.details}" for row in entries)
    for word in (*world.secrets(), "canaryline", "canarypass"):
        assert word not in audited
