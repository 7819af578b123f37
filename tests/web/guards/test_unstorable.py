"""Characters and numbers that a database does not take: said in words, on both kinds of databases."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy.exc import DataError, IntegrityError, OperationalError

from models.schema.roles import SiteRole
from tests.service.service import Service
from web.exception_handlers import add_exception_handlers

ODD = ("a\0b", "\ud800", "9" * 40, "\x01\x02")


def test_what_cannot_be_stored_or_looked_up_is_said(database_url: str) -> None:
    with ExitStack() as stack:
        service = Service.start(database_url, stack)
        root = service.account("root", SiteRole.ADMINISTRATOR)
        service.campaign("port", organisers=(root,))
        client = service.program(root)
        for odd in ODD:
            for method, path, body in (
                ("POST", "/api/v1/teams", {"name": odd, "affiliation": odd}),
                ("POST", "/api/v1/campaigns", {"name": odd, "description": odd}),
                ("PATCH", "/api/v1/campaigns/port", {"description": odd}),
                ("PATCH", "/api/v1/account", {"name": odd}),
                ("POST", "/api/v1/accounts", {"name": odd, "email": f"{odd}@example.org"}),
                ("POST", "/api/v1/invitations/accept", {"secret": odd}),
            ):
                answer = client.request(method, path, content=_json(body), headers={"Content-Type": "application/json"})
                assert answer.status_code < 500, (method, path, odd, answer.text)
        for path in ("accounts/{}", "submissions/{}", "campaigns/{}", "evaluations/{}", "nightly/{}"):
            for odd in ("8" * 40, "-1", "%C0%80", "x" * 3000, "%F0%9F%98%80"):
                answer = client.get("/api/v1/" + path.format(odd))
                assert 400 <= answer.status_code < 500, (path, odd, answer.text)
        for key in ("search", "after", "limit"):
            for odd in ("9" * 40, "%", "_", "'", "\\", "-1"):
                answer = client.get("/api/v1/audit", params={key: odd})
                assert answer.status_code in (200, 400, 422), (key, odd, answer.text)


def _json(body: dict[str, object]) -> bytes:
    return json.dumps(body).encode()


@pytest.mark.parametrize("content", [b"{" * 100_000, b"[" * 100_000, b'{"a":' * 50_000, b"\xff", b"nul", b""])
def test_json_that_is_none(service: Service, content: bytes) -> None:
    client = service.program(service.account("mary"))
    answer = client.post("/api/v1/teams", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 413, 422), answer.text
    assert set(answer.json()["error"]) == {"code", "message", "details"}


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (
            DataError("INSERT", {}, ValueError("a secret")),
            422,
            "The request contains a character or number that cannot",
        ),
        (
            UnicodeEncodeError("utf-8", "a secret", 0, 1, "surrogates not allowed"),
            422,
            "The request contains a character",
        ),
        (IntegrityError("INSERT", {}, ValueError("a secret")), 409, "Somebody else changed the same thing at the same"),
        (OperationalError("INSERT", {}, ValueError("away")), 503, ""),
    ],
)
def test_what_a_database_refuses_is_said_without_the_value(
    error: Exception, status: int, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = FastAPI()
    add_exception_handlers(app)

    @app.get("/api/store")
    def store() -> None:
        raise error

    caplog.set_level("INFO")
    answer = TestClient(app, raise_server_exceptions=False).get("/api/store")
    assert answer.status_code == status
    assert answer.json()["error"]["message"].startswith(says)
    assert "secret" not in answer.text + caplog.text
