"""Pages of a campaign with hundreds of systems stay small, and lead to all of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from benchmarks.leaderboard_page import NAME, take
from models.schema.roles import SiteRole
from tests.service.service import Service

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

SYSTEMS = 420
MOST_BYTES = 100_000
"""Of a page with its styles and scripts."""
CAMPAIGN = f"/campaigns/{NAME}"


@pytest.fixture
def many(service: Service) -> Service:
    take(service.engine, service.settings, 0, SYSTEMS, 20, segments=3, teams=50)
    return service


def loaded(browser: TestClient, page: str) -> int:
    """Bytes of a page with its styles and scripts."""
    text = browser.get(page).text
    files = set(re.findall(r'(?:href|src)="(/static/[^"]+\.(?:css|js))"', text))
    assert files
    return len(text.encode()) + sum(len(browser.get(each).content) for each in files)


def test_pages_stay_small_and_lead_to_all_systems(many: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.pages.leaderboards.metrics.TIMEOUT_SECONDS", 600)
    root = many.browser(many.account("root", SiteRole.ADMINISTRATOR))
    pages = ("", "/leaderboard", "/systems", "/segments", "/ngrams", "/metrics", "/submissions")
    sizes = {page: loaded(root, f"{CAMPAIGN}{page}") for page in pages}
    assert max(sizes.values()) < MOST_BYTES, sizes
    first, last = (root.get(f"{CAMPAIGN}/systems", params={"first": first}).text for first in (0, 400))
    assert f"Systems 1 to 200 of {SYSTEMS}" in first
    assert f"Systems 401 to {SYSTEMS} of {SYSTEMS}" in last
    assert first.count('<th scope="row">') == 200
    assert last.count('<th scope="row">') == SYSTEMS - 400
    assert root.get(f"{CAMPAIGN}/systems", params={"first": 10**6}).status_code == 200
    assert "show the best 60 by BLEU" in root.get(f"{CAMPAIGN}/metrics").text
    # Systems that are not listed are named.
    segments = root.get(
        f"{CAMPAIGN}/segments", params={"system": ["1", "team0007/system3", ""], "order": "number"}
    ).text
    assert segments.count('type="checkbox"') == 2
    # A list of so many names would be most of the page.
    assert "<datalist" not in segments
    assert 'list="' not in segments
    ngrams = root.get(f"{CAMPAIGN}/ngrams", params={"first": "team0007/system3", "second": "team0000/system"}).text
    assert "More often in <bdi>team0007/system3</bdi>" in ngrams or "More often in <bdi>system3" in ngrams
    assert "<datalist" not in ngrams
    assert 'list="' not in ngrams
    monkeypatch.setattr("web.pages.leaderboards.segment_views.MOST_PROPOSED", SYSTEMS)
    for page in ("segments", "ngrams"):
        assert '<option value="team0008/system3">' in root.get(f"{CAMPAIGN}/{page}").text


def test_of_many_systems_the_first_can_be_left_out_of_metrics(many: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.pages.leaderboards.metrics.TIMEOUT_SECONDS", 600)
    root = many.browser(many.account("root", SiteRole.ADMINISTRATOR))

    def offered(address: str) -> list[str]:
        return re.findall(r'name="without" type="checkbox" value="(\d+)"', root.get(f"{CAMPAIGN}/{address}").text)

    first = offered("metrics")
    assert len(first) == 60
    last = next(str(each) for each in range(1, SYSTEMS) if str(each) not in first)
    # One that is left out is first, so that it can be taken in again.
    assert offered(f"metrics?without={last}") == [last, *first]
