"""Feeds: what has happened, to whom may know of it, as Atom that readers understand."""

from __future__ import annotations

from xml.etree import ElementTree

from models.schema.roles import PhaseKind, Visibility
from tests.service.port import Port
from tests.service.service import DAY, Service

ATOM = "{http://www.w3.org/2005/Atom}"
HERE = "/campaigns/port%201"


def entries(answer) -> list[tuple[str, str]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/atom+xml")
    feed = ElementTree.fromstring(answer.content)
    for name in ("id", "title", "updated", "author", "link"):
        assert feed.find(f"{ATOM}{name}") is not None
    found = [(each.findtext(f"{ATOM}title"), each.findtext(f"{ATOM}id")) for each in feed.iter(f"{ATOM}entry")]
    assert len({each for _, each in found}) == len(found)
    return found


def test_phases_and_results(service: Service) -> None:
    port = Port.opened(service)
    service.phase(port.campaign, "to come", PhaseKind.OPEN, begins=5 * DAY)
    service.phase(port.campaign, "<results> & more", PhaseKind.PUBLISHED, begins=-DAY / 2)
    visitor = service.client()
    titles = [title for title, _ in entries(visitor.get(f"{HERE}/feed.xml"))]
    assert titles[0].endswith("the results are out")
    assert titles[1].endswith('the phase "first" has begun')
    assert len(titles) == 2
    assert entries(visitor.get("/feed.xml")) == entries(visitor.get(f"{HERE}/feed.xml"))
    for page in ("/", HERE):
        assert 'type="application/atom+xml"' in visitor.get(page).text


def test_private_campaigns_have_none_for_others(service: Service) -> None:
    port = Port.opened(service)
    service.campaign("port 1", visibility=Visibility.PRIVATE)
    assert service.client().get(f"{HERE}/feed.xml").status_code == 404
    assert entries(service.client().get("/feed.xml")) == []
    assert len(entries(port.browser("mary").get(f"{HERE}/feed.xml"))) == 1


def test_what_others_show_of_a_link(service: Service) -> None:
    port = Port.opened(service)
    service.campaign("port 1", title='A "task"', description="**Bold** words & more.\n\nThe rest.")
    page = port.service.client().get(HERE).text
    assert '<meta property="og:title" content="A &#34;task&#34;">' in page
    assert '<meta property="og:description" content="Bold words &amp; more.">' in page
