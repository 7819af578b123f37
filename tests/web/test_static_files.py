"""Styles, scripts and the icon: addresses, what browsers may keep, and what is compressed."""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING

import pytest

from web.guards import HEADERS
from web.static_files import FOLDER, TOGETHER, address_of, static_files

if TYPE_CHECKING:
    from tests.service.service import Service


def test_every_file_is_there_at_its_name_and_at_an_address_for_good(service: Service) -> None:
    client = service.client(headers={"Accept-Encoding": "identity"})
    assert {each.name for each in FOLDER.iterdir()} | set(TOGETHER) == set(static_files())
    for name, file in static_files().items():
        kept, asked = client.get(file.address), client.get(f"/static/{name}")
        assert kept.content == asked.content == file.content
        assert kept.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert asked.headers["Cache-Control"] == "private, no-cache"
        assert kept.headers["Content-Type"] == asked.headers["Content-Type"]
        assert {each: kept.headers[each] for each in HEADERS} == HEADERS
    together = client.get(address_of("pages.css")).content
    assert together == b"".join((FOLDER / part).read_bytes() for part in TOGETHER["pages.css"])


def test_the_address_of_another_release_is_not_kept(service: Service) -> None:
    other = re.sub(r"\.[0-9a-f]{12}\.", f".{'0' * 12}.", address_of("pages.css"))
    answer = service.client().get(other)
    assert answer.content == static_files()["pages.css"].content
    assert answer.headers["Cache-Control"] == "private, no-cache"


@pytest.mark.parametrize("named", ["site.css", "versioned"])
def test_who_has_it_gets_it_once(service: Service, named: str) -> None:
    address = address_of("site.css") if named == "versioned" else f"/static/{named}"
    client = service.client()
    first = client.get(address)
    again = client.get(address, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["Cache-Control"] == first.headers["Cache-Control"]
    assert client.get(address, headers={"If-None-Match": 'W/"other"'}).status_code == 200


def test_files_are_compressed_for_those_who_can_read_that(service: Service) -> None:
    client = service.client()
    for file in static_files().values():
        with client.stream("GET", file.address, headers={"Accept-Encoding": "gzip"}) as answer:
            raw = b"".join(answer.iter_raw())
        assert answer.headers["Content-Encoding"] == "gzip"
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert int(answer.headers["Content-Length"]) == len(raw)
        assert gzip.decompress(raw) == file.content
        plain = client.get(file.address, headers={"Accept-Encoding": "identity"})
        assert "Content-Encoding" not in plain.headers


def test_nothing_else_is_below_static(service: Service) -> None:
    client = service.client()
    for path in ("", "nothing.css", "../app.py", "..%2Fapp.py", "site.css/", "site", "pages.0123456789ab"):
        assert client.get(f"/static/{path}").status_code == 404, path
    assert client.post("/static/site.css").status_code in (404, 405)
    head = client.head(address_of("site.css"), headers={"Accept-Encoding": "identity"})
    assert head.content == b""
    assert int(head.headers["Content-Length"]) == len(static_files()["site.css"].content)


def test_a_page_loads_one_style_sheet_and_no_picture(service: Service) -> None:
    page = service.client().get("/").text
    assert re.findall(r'<link rel="stylesheet" href="([^"]+)"', page) == [address_of("pages.css")]
    assert "<img" not in page
    assert page.count('aria-hidden="true" xmlns=') == 1
    for each in re.findall(r'(?:src|href)="(/static/[^"]+)"', page):
        assert service.client().get(each).headers["Cache-Control"].endswith("immutable")
