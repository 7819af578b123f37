"""Live pages: streams say that a page has changed, to those who see the page, and nothing else."""

from __future__ import annotations

import asyncio
import re
import threading
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import delete, update

from models.database.session import writing
from models.schema.accounts import WebSession
from models.schema.campaigns import Phase
from models.schema.roles import PhaseKind
from tests.service.port import ADDRESS, Port, output
from tests.service.service import DAY, Service
from web.live import LivePages, PageOf, live_version, with_version

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

CAMPAIGN = "/campaigns/port%201"
PAGES = ("/queue", CAMPAIGN, f"{CAMPAIGN}/leaderboard", f"{CAMPAIGN}/submissions", f"{CAMPAIGN}/manage/live")


@pytest.fixture(autouse=True)
def _one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream ends after its first look, which is always a new one."""
    monkeypatch.setattr("web.pages.live.LONGEST_STREAM_SECONDS", 0.0)
    monkeypatch.setattr("web.live.LOOK_SECONDS", 0.0)
    monkeypatch.setattr("web.live.SHARE", 0)


def since(client: TestClient, page: str) -> str:
    """The version that a page tells its script."""
    found = re.search(r'data-live data-since="(\w+)"', client.get(page).text)
    assert found, page
    return found[1]


def told(client: TestClient, page: str, version: str = "") -> list[str]:
    """The events of one look."""
    answer = client.get("/live", params={"page": page, "since": version})
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    return re.findall(r"^event: (.*)$", answer.text, re.MULTILINE)


def test_a_stream_is_quiet_while_its_page_stays_as_it_is(port: Port) -> None:
    ann = port.browser("ann")
    port.work_off()
    for page in PAGES:
        assert told(ann, page, since(ann, page)) == [], page
        assert told(ann, page, "another") == ["changed"], page


def test_live_pages_work_without_scripts(port: Port) -> None:
    ann = port.browser("ann")
    for page in PAGES:
        text = ann.get(page).text
        assert re.search(r'<script src="/static/refresh[^"]*\.js" defer></script>', text), page
        # Outside of what is compared, so that the link is no news itself.
        before, live = text.split("<!--live-->")
        assert re.search(r'<noscript><p class="soft"><a href="">Refresh</a></p></noscript>\s*[^\n]*$', before), page
        assert "<noscript>" not in live.split("<!--/live-->")[0], page
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(ends_at=Phase.starts_at + 100 * DAY))
    left = re.search(r'<span data-until="[\d.]+" data-now="[\d.]+">([^<]*)<', ann.get(CAMPAIGN).text)
    assert left, "said without a countdown"
    assert re.search(r"\d+ (day|h|min)", left[1])


def test_a_submission_is_news_on_the_pages_that_show_it(port: Port) -> None:
    ann, zoe = port.browser("ann"), port.browser("zoe")
    before = {page: since(ann, page) for page in PAGES}
    hers = since(zoe, f"{CAMPAIGN}/submissions")
    port.submit(port.program("mary"))
    for page in ("/queue", f"{CAMPAIGN}/submissions", f"{CAMPAIGN}/manage/live"):
        assert told(ann, page, before[page]) == ["changed"], page
    port.work_off()
    assert told(ann, f"{CAMPAIGN}/leaderboard", before[f"{CAMPAIGN}/leaderboard"]) == ["changed"]
    assert told(zoe, f"{CAMPAIGN}/submissions", hers) == [], "it is none of hers"


def test_a_deadline_that_moves_is_news(port: Port) -> None:
    nobody = port.service.client()
    version = since(nobody, CAMPAIGN)
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(ends_at=Phase.starts_at + 100 * DAY))
    assert told(nobody, CAMPAIGN, version) == ["changed"]


def test_what_is_hidden_is_no_news(service: Service) -> None:
    port = Port.opened(service, PhaseKind.BLIND)
    zoe, nobody = port.browser("zoe"), service.client()
    seen = [(who, page, since(who, page)) for who in (zoe, nobody) for page in (CAMPAIGN,)]
    port.submit(port.program("mary"), output(3))
    port.work_off()
    for who, page, version in seen:
        assert told(who, page, version) == []
    hidden = zoe.get("/live", params={"page": f"{CAMPAIGN}/leaderboard"})
    assert hidden.status_code == 404, "the board is hidden, so nothing is live there"


@pytest.mark.parametrize(
    "page",
    [
        *(
            "/live?page=/queue",
            "/campaigns/port%201/segments",
            "/static/site.css",
            "/about",
            "https://example.org/queue",
        ),
        *("queue", "//example.org/queue", f"{ADDRESS}/export", "/campaigns/missing", "", "/queue\n"),
    ],
)
def test_only_live_pages_that_one_sees_are_watched(port: Port, page: str) -> None:
    assert port.browser("ann").get("/live", params={"page": page}).status_code == 404
    assert port.service.client().get("/live", params={"page": "/queue"}).status_code in (401, 403, 404)


def test_a_reader_who_may_not_see_the_page_any_more_is_told_so(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.pages.live.LONGEST_STREAM_SECONDS", 600.0)
    ann = port.browser("ann")
    page = f"{CAMPAIGN}/manage/live"
    version = since(ann, page)

    def sign_out() -> None:
        with writing(port.service.engine) as connection:
            connection.execute(delete(WebSession))

    timer = threading.Timer(0.5, sign_out)
    timer.start()
    assert told(ann, page, version)[-1:] == ["gone"]
    timer.join()


def test_streams_are_limited_and_end_with_the_server(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.pages.live.LONGEST_STREAM_SECONDS", 600.0)
    nobody = port.service.client()
    state = nobody.app.state.steelyard  # type: ignore[attr-defined]
    with state.streams.counted("somebody"):
        state.streams.most = 1
        refused = nobody.get("/live", params={"page": CAMPAIGN})
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "10")
        state.streams.most, state.streams.most_each = 2, 0
        assert nobody.get("/live", params={"page": CAMPAIGN}).status_code == 429
        state.streams.most_each = 1
        threading.Timer(0.5, state.stopping.set).start()
        assert told(nobody, CAMPAIGN, since(nobody, CAMPAIGN)) == []
    assert state.streams._open.total() == 0
    assert not state.live._pages


def test_readers_of_one_page_share_the_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.live.LOOK_SECONDS", 600.0)
    asked: Counter[str] = Counter()
    running = most = 0

    async def app(scope, receive, send) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        asked[scope["path"]] += 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"<!--live-->1<!--/live-->"})
        running -= 1

    async def watch() -> list[str | None]:
        pages = LivePages()
        urls = [PageOf("", f"http://host/{place % 5}") for place in range(50)]

        async def one(page: PageOf) -> str | None:
            with pages.watched(page):
                return await pages.version(page, app, {}, ("", 0))

        versions = await asyncio.gather(*map(one, urls))
        assert not pages._pages
        return versions

    versions = asyncio.run(watch())
    assert len(set(versions)) == 1
    assert set(asked.values()) == {1}
    assert most == 2


def test_a_version_is_that_of_what_is_live() -> None:
    texts = ["<!--live--><b>1</b><!--/live-->", "<!--live--><b>2</b><!--/live-->", "nothing"]
    assert len({live_version(text) for text in texts}) == 3
    assert live_version("nothing") == ""
    same = [
        f'<p>{at}</p><div data-live data-since=""><!--live--><i data-until="9" data-now="{at}">{left}</i> of all'
        f'<input type="hidden" name="csrf_token" value="{at}{left}"><!--/live--></div>'
        for at, left in ((1, "8 s"), (2, "7 s"))
    ]
    for one, other in pairwise(same):
        assert live_version(one) == live_version(other)
    assert f'data-since="{live_version(same[0])}"' in with_version(same[0])
