"""What is compressed, and what must not be."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from starlette.responses import Response, StreamingResponse

from models.schema.roles import SiteRole
from tests.service.service import Service
from web.guards.compression import Compression


def test_visitors_get_compressed_pages(service: Service) -> None:
    client = service.client()
    packed = client.get("/about", headers={"Accept-Encoding": "gzip"})
    plain = client.get("/about", headers={"Accept-Encoding": "identity"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in packed.headers["Vary"]
    assert int(packed.headers["Content-Length"]) < len(plain.content) / 2
    assert "Content-Encoding" not in plain.headers
    head = client.head("/about", headers={"Accept-Encoding": "gzip"})
    assert head.headers["Content-Encoding"] == "gzip"


def test_what_a_browser_is_signed_in_for_is_not_compressed(service: Service) -> None:
    # Its pages repeat what the address says beside tokens of forms: their length must not tell how much is alike.
    browser = service.browser(service.account("mary", SiteRole.ADMINISTRATOR))
    page = browser.get("/accounts?search=something", headers={"Accept-Encoding": "gzip"})
    assert len(page.content) > 2000
    assert "Content-Encoding" not in page.headers
    for path in ("/static/site.css", "/static/report.css"):
        assert browser.get(path, headers={"Accept-Encoding": "gzip"}).headers["Content-Encoding"] == "gzip"


def test_programs_get_compressed_answers(service: Service) -> None:
    program = service.program(service.account("mary"))
    answer = program.get("/api/v1/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.json()["info"]["title"] == "Steelyard"


@pytest.mark.parametrize(
    ("answer", "packed"),
    [
        (StreamingResponse(iter(["data: x\n\n"] * 1000), media_type="text/event-stream"), False),
        (Response(b"x" * 5000, media_type="application/zip"), False),
        (Response(b"x" * 5000, media_type="text/plain"), True),
        (Response(b"x" * 100, media_type="text/plain"), False),
    ],
    ids=["events", "zip", "text", "short text"],
)
def test_event_streams_and_packed_files_stay_as_they_are(answer: Response, packed: bool) -> None:
    found = TestClient(Compression(answer)).get("/x", headers={"Accept-Encoding": "gzip"})
    assert ("Content-Encoding" in found.headers) == packed
    assert len(found.content) in (100, 5000, 9000)
