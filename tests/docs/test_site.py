"""The built site: generated pages are complete, links and anchors lead somewhere, nothing comes from other hosts."""

import inspect
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from cli.verbs import VERBS
from runtime.service_settings import WebSettings
from steelyard.commands.verbs import OURS
from steelyard.metrics.registry import all_metrics, learned_metrics
from steelyard_client.commands.verbs import VERBS as VERBS_OF_CLIENT
from steelyard_client.operations import Operations
from steelyard_client.steps import listing, operation
from tests.docs.conftest import ROOT
from web.app import create_app

# Building the site takes nearly a minute; CI has it from `make docs`.
pytestmark = pytest.mark.thorough

LOADED = {"link": "href", "script": "src", "img": "src", "iframe": "src"}
"""Tag -> the attribute whose address a browser loads."""


class Page(HTMLParser):
    """What a page names: anchors, links, what the browser loads, inline code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.inline: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect from one tag."""
        values = dict(attrs)
        self.anchors |= {name for name in (values.get("id"), values.get("name")) if name}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"] or "")
        if tag in LOADED and values.get(LOADED[tag]) and values.get("rel") not in ("author", "search", "next", "prev"):
            self.loaded.append(values[LOADED[tag]] or "")
        if tag == "style" or (tag == "script" and "src" not in values):
            self.inline.append(tag)
        self.inline += [name for name in values if name == "style" or name.startswith("on")]


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    """All pages of the site."""
    return {path: Page(path.read_text()) for path in site.rglob("*.html")}


def test_links_and_anchors_lead_somewhere(site, pages):
    lost = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors):
                lost.append(f"{path.relative_to(site)}: {link}")
    assert not lost


def test_a_browser_loads_nothing_from_other_hosts(site, pages):
    for path, page in pages.items():
        for address in page.loaded:
            assert not urlsplit(address).netloc, f"{path} loads {address}"
            assert (path.parent / urlsplit(address).path).exists(), f"{path} loads {address}"
    styles = "".join(path.read_text() for path in site.rglob("*.css"))
    assert not re.findall(r"url\(['\"]?(?:https?:)?//|@import", styles)


def test_the_site_holds_no_code_of_the_project(site):
    """A link to a file of code would copy it into the site; its path between backticks does not."""
    assert not [*site.rglob("*.py")]


def test_no_page_has_inline_code(pages):
    assert not {path for path, page in pages.items() if page.inline}


def test_every_page_of_the_repository_is_in_the_site(site):
    docs = ROOT / "docs"
    for path in docs.rglob("*.md"):
        assert (site / path.relative_to(docs).with_suffix(".html")).exists()


def test_every_command_is_documented(pages, site):
    text = (site / "reference/command-line.html").read_text()
    for verb in {*OURS, *VERBS, *VERBS_OF_CLIENT}:
        assert f"Usage: steelyard {verb}" in text


def test_every_setting_is_documented(site):
    text = (site / "reference/settings.html").read_text()
    assert not [name for name in WebSettings.model_fields if f"STEELYARD_{name.upper()}<" not in text]


def test_every_parameter_of_a_metric_is_documented(site):
    for metric in (*all_metrics(), *learned_metrics()):
        text = (site / f"reference/metrics/{metric.name}.html").read_text()
        rows = re.findall(r"<tr[^>]*><td><p><code[^>]*><span class=\"pre\">([^<]+)</span>", text)
        assert {field.name for field in metric.parameters()} <= {*rows}


def test_every_operation_and_schema_of_the_api_is_documented(site, pages):
    document = create_app(WebSettings(database_url="sqlite:///not-opened.db")).openapi()
    path = site / "reference/http-api.html"
    text = path.read_text()
    for address, methods in document["paths"].items():
        for method in methods:
            assert f"{method.upper()} {address}\n" in text
    assert {name.lower() for name in document["components"]["schemas"]} <= pages[path].anchors


def test_every_method_of_the_client_is_documented(site):
    text = (site / "reference/client.html").read_text()
    methods = [name for name, each in inspect.getmembers(Operations) if isinstance(each, operation | listing)]
    assert len(methods) > 80
    assert not [name for name in methods if f'<span class="pre">{name}</span>' not in text]
