"""Live pages: streams say that a page has changed, to those who see the page, and nothing else."""

from __future__ import annotations

import asyncio
import re
import threading
from collections import Counter
from contextlib import ExitStack
from itertools import pairwise, product
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
    from collections.abc import Callable, Sequence

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


def test_who_is_limited_is_the_account_or_without_one_the_network(port: Port) -> None:
    people = {name: port.browser(name) for name in ("ann", "zoe")}
    owners = {str(port.accounts[name]): client for name, client in people.items()}
    owners["testclient"] = port.service.client()
    state = owners["testclient"].app.state.steelyard  # type: ignore[attr-defined]
    state.streams.most_each = 1
    for busy in owners:
        with state.streams.counted(busy):
            for owner, client in owners.items():
                answer = client.get("/live", params={"page": CAMPAIGN})
                assert answer.status_code == (429 if owner == busy else 200), (busy, owner)


def test_what_the_browser_saw_last_counts_and_not_what_the_page_began_with(port: Port) -> None:
    nobody = port.service.client()
    now = since(nobody, CAMPAIGN)
    for last, began, events in ((now, "old", []), ("old", now, ["changed"]), ("", now, []), ("", "old", ["changed"])):
        headers = {"Last-Event-ID": last} if last else {}
        answer = nobody.get("/live", params={"page": CAMPAIGN, "since": began}, headers=headers)
        assert re.findall(r"^event: (.*)$", answer.text, re.MULTILINE) == events, (last, began)
        assert re.findall(r"^id: (.*)$", answer.text, re.MULTILINE) == [now] * len(events)


def test_a_page_is_watched_as_its_address_asks_for_it(port: Port) -> None:
    port.work_off()
    ann = port.browser("ann")
    pages = [f"{CAMPAIGN}/leaderboard{query}" for query in ("", "?metric=chrf", "?shown=all&metric=bleu")]
    versions = {page: since(ann, page) for page in pages}
    assert versions[pages[0]] != versions[pages[1]]
    for page, other in product(pages, repeat=2):
        changed = versions[page] != versions[other]
        assert told(ann, page, versions[other]) == ["changed"] * changed, (page, other)


def watch(
    answers: Callable[[str, str], tuple[int, str]], looks: Sequence[tuple[PageOf, float]]
) -> tuple[list[str | None], list[float], Counter[str]]:
    """Look at pages of an app one after the other, each watched all the time; each look takes so many seconds.

    Returns the versions, in how many seconds each page was due afterwards, and how often each was asked for.
    """
    asked: Counter[str] = Counter()
    takes = 0.0

    async def app(scope, receive, send) -> None:
        cookie = dict(scope["headers"]).get(b"cookie", b"").decode()
        asked[f"{cookie}{scope['path']}"] += 1
        clock.at += takes
        status, html = answers(cookie, scope["path"])
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": html.encode()})

    class Clock:
        at = 1000.0

        def monotonic(self) -> float:
            return self.at

    clock, versions, due = Clock(), [], []

    async def look() -> None:
        nonlocal takes
        with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
            patch.setattr("web.live.time", clock)
            live = LivePages()
            for page in dict.fromkeys(page for page, _ in looks):
                stack.enter_context(live.watched(page))
                with live.watched(page):
                    """Somebody else, who does not stay."""
            for page, takes in looks:  # noqa: B007 - the app reads it
                versions.append(await live.version(page, app, {"Cookie": page.reader}, ("", 0)))
                due.append(live.due_in(page))

    asyncio.run(look())
    return versions, due, asked


def test_readers_with_accounts_see_pages_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.live.LOOK_SECONDS", 600.0)
    pages = [PageOf(reader, f"http://host/{path}") for reader in ("", "ann", "zoe") for path in ("a", "b")]
    versions, _, asked = watch(
        lambda cookie, path: (200, f"<!--live-->{cookie}{path}<!--/live-->"), [(page, 0.0) for page in pages * 2]
    )
    assert versions == [live_version(f"<!--live-->{page.reader}/{page.url[-1]}<!--/live-->") for page in pages] * 2
    assert set(asked.values()) == {1}
    assert len(asked) == len(pages)


def test_only_a_page_that_is_hidden_is_gone_and_other_troubles_pass() -> None:
    page = PageOf("", "http://host/a")
    html = "<!--live-->1<!--/live-->"
    for status in (302, 303, 307, 400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504):
        in_turn = iter((200, status, 200))
        versions, _, _ = watch(lambda *_, in_turn=in_turn: (next(in_turn), html), [(page, 0.0)] * 3)  # type: ignore[misc]
        gone = status in (302, 303, 307, 401, 403, 404)
        assert versions == [live_version(html), None if gone else live_version(html), live_version(html)], status


def test_a_page_that_takes_long_is_looked_at_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.live.LOOK_SECONDS", 3.0)
    monkeypatch.setattr("web.live.SHARE", 4)
    for takes, due in ((0.0, 3.0), (0.5, 2.5), (1.0, 3.0), (10.0, 30.0)):
        _, found, asked = watch(lambda *_: (200, ""), [(PageOf("", "http://host/a"), takes)] * 2)
        assert (found, asked.total()) == ([due, due], 1)


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
    # Of several parts each counts, and of what stands between them nothing.
    several = {
        f"<!--live-->{a}<!--/live-->{c}<!--live-->{b}<!--/live-->": (a, b) for a, b, c in product("12", repeat=3)
    }
    assert len({(live_version(text), parts) for text, parts in several.items()}) == 4
    assert len({live_version(text) for text in several}) == 4
    assert live_version("nothing") == ""
    same = [
        f'<p>{at}</p><div data-live data-since=""><!--live--><i data-until="9" data-now="{at}">{left}</i> of all'
        f'<input type="hidden" name="csrf_token" value="{at}{left}"><!--/live--></div>'
        for at, left in ((1, "8 s"), (2, "7 s"))
    ]
    for one, other in pairwise(same):
        assert live_version(one) == live_version(other)
    assert f'data-since="{live_version(same[0])}"' in with_version(same[0])
