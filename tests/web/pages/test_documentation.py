"""The documentation below /docs, built or not, and the links of pages into it."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.docs.conftest import ROOT
from tests.service.service import Service
from web.app import create_app
from web.guards import HEADERS
from web.pages import documentation
from web.pages.rendering import DOCUMENTATION, TEMPLATES


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where apps that are made from now on look for the site."""
    monkeypatch.setattr("web.app.SITE", tmp_path)
    return tmp_path


def test_the_built_site_is_served_with_the_headers_of_all_pages(site: Path, service: Service) -> None:
    (site / "how-to").mkdir()
    (site / "index.html").write_text("the first page")
    (site / "how-to" / "queue.html").write_text("the queue")
    client = TestClient(create_app(service.settings))
    assert client.get("/docs").text == "the first page"
    answer = client.get("/docs/how-to/queue.html")
    assert answer.text == "the queue"
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    for path in ("/docs/nothing.html", "/docs/%2e%2e/app.py", "/docs/..%2fapp.py"):
        assert client.get(path).status_code == 404, path


@pytest.mark.parametrize("folder", [True, False])
def test_without_the_site_a_page_says_how_to_build_it(
    folder: bool, site: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not folder:
        monkeypatch.setattr("web.app.SITE", site / "nowhere")
    client = TestClient(create_app(service.settings))
    for path in ("/docs", "/docs/how-to/queue.html"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "make docs" in answer.text


def test_the_reference_of_the_api_is_a_page_of_the_site(service: Service) -> None:
    answer = service.client().get("/api/docs", follow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/docs/reference/http-api.html")


def test_each_page_leads_to_what_is_written_about_it(service: Service) -> None:
    assert 'href="/docs/index.html"' in service.client().get("/").text
    assert f'href="/docs/{DOCUMENTATION["about"]}"' in service.client().get("/about").text


@pytest.mark.parametrize(("template", "target"), [*DOCUMENTATION.items(), ("base", "reference/http-api.html")])
def test_what_pages_lead_to_is_written(template: str, target: str) -> None:
    assert (TEMPLATES / f"{template}.html.j2").exists()
    path, _, anchor = target.partition("#")
    page = (ROOT / "docs" / path).with_suffix(".md").read_text()
    headings = {line.lstrip("# ").lower().replace(" ", "-") for line in page.splitlines() if line.startswith("#")}
    assert not anchor or anchor in headings


def test_the_site_is_where_make_builds_it() -> None:
    assert str(documentation.SITE.relative_to(ROOT)) in (ROOT / "Makefile").read_text()
