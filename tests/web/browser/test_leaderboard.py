"""The leaderboard in a browser: columns and order without a reload, cards on a phone, nothing cut."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from playwright.sync_api import Page, expect

from models.schema.roles import DeclaredKind, PhaseKind
from tests.scheduler.jobs import similar_text
from tests.service.campaigns import given, submit_output, with_test_set
from tests.service.service import DAY
from tests.web.browser.looks import check_page
from tests.web.browser.site import Site
from tests.web.wire import served

BOARD = "/campaigns/news/leaderboard"
REFERENCE = "".join(f"the ship {number} sails to harbour {number % 7} with the tide\n" for number in range(40)).encode()
LONG = "JDExploreAcademy-with-a-very-long-name-of-its-own"


@pytest.fixture
def board(site: Site) -> Site:
    """Three ranked systems and a contrastive one; "chrf" orders them as "bleu" does not."""
    service = site.service
    teams = {name: service.team(name, service.account(f"of {name}")) for name in ("harbour", "pier", LONG)}
    campaign = service.campaign("news", teams=tuple(teams.values()), title="News")
    service.phase(campaign, "Results", PhaseKind.PUBLISHED, begins=-DAY)
    texts = given(reference=REFERENCE, source=REFERENCE)
    with_test_set(service.engine, "news", texts, metrics=("bleu", "chrf", "ter"), replicates=100)
    outputs = {
        ("harbour", "mast"): (REFERENCE.replace(b"sails", b"drifts"), DeclaredKind.PRIMARY),
        ("harbour", "sail"): (similar_text(REFERENCE.rstrip(), 1) + b"\n", DeclaredKind.CONTRASTIVE),
        ("pier", "plank"): (
            REFERENCE.replace(b"harbour", b"harbours").replace(b"tide", b"tides"),
            DeclaredKind.PRIMARY,
        ),
        (LONG, LONG): (REFERENCE.replace(b"the ", b"a "), DeclaredKind.PRIMARY),
    }
    for (team, system), (lines, kind) in outputs.items():
        submit_output(service.engine, "news", team, system, lines, declared=kind, constrained=team == "pier")
    site.work()
    return site


def systems(page: Page) -> list[str]:
    return [each.split()[0] for each in page.locator("#board tbody th").all_inner_texts()]


def test_order_and_columns_change_without_a_reload(board: Site) -> None:
    page = board.page()
    page.goto(BOARD)
    page.evaluate("window.stayed = true")
    by_bleu = systems(page)
    page.locator("#board").get_by_role("link", name="TER ↓").click()
    expect(page.get_by_role("columnheader", name="TER ↓")).to_have_attribute("aria-sort", "ascending")
    assert "metric=ter" in page.url
    page.get_by_text("Columns: 3 of 3").click()
    page.get_by_role("checkbox", name="chrF2").uncheck()
    expect(page.get_by_role("columnheader", name="chrF2")).to_have_count(0)
    page.get_by_label("Show", exact=True).select_option(label="all systems")
    expect(page.locator("#board tbody tr")).to_have_count(4)
    assert page.evaluate("window.stayed")
    # Back and forth as if pages had been loaded, and a shared address shows the same.
    shared, shown = page.url, systems(page)
    page.go_back()
    expect(page.locator("#board tbody tr")).to_have_count(3)
    page.goto(shared)
    assert systems(page) == shown
    assert page.get_by_role("columnheader", name="chrF2").count() == 0
    page.goto(BOARD)
    assert systems(page) == by_bleu
    arrive_while_somebody_looks(board, page)


def arrive_while_somebody_looks(board: Site, page: Page) -> None:
    """A score that arrives is shown without a reload; beside ticked boxes, it is offered."""
    page.evaluate("window.stayed = true")
    page.get_by_label("Show", exact=True).select_option(label="all systems")
    rows = page.locator("#board tbody tr")
    expect(rows).to_have_count(4)
    submit_output(board.service.engine, "news", "pier", "keel", REFERENCE, declared=DeclaredKind.CONTRASTIVE)
    board.work()
    expect(rows).to_have_count(5)
    expect(rows.first).to_contain_text("keel")
    expect(rows.first).to_contain_text("100.0")
    box = page.locator("#board tbody input[type=checkbox]").first
    box.check()
    submit_output(board.service.engine, "news", "pier", "oar", REFERENCE + b"", declared=DeclaredKind.CONTRASTIVE)
    board.work()
    offer = page.get_by_role("status").get_by_role("button", name="Show what is new")
    expect(offer).to_be_visible()
    expect(rows).to_have_count(5)
    expect(box).to_be_checked()
    offer.click()
    expect(rows).to_have_count(6)
    expect(offer).to_have_count(0)
    assert page.evaluate("window.stayed")


def test_it_is_watched_once_it_is_painted(board: Site) -> None:
    # The server looks at a page that is watched, which would take its time from the first paint.
    page = board.page()
    page.clock.install(time=0)
    page.clock.pause_at(3600)  # Far ahead: until it stands still, it goes on with the machine's.
    watched: list[str] = []
    page.on("request", lambda request: watched.append(request.url) if "/live?" in request.url else None)
    page.goto(BOARD)
    assert not watched
    with page.expect_request("**/live?*"):
        page.clock.run_for(1000)
    assert len(watched) == 1


def test_it_works_without_scripts(board: Site) -> None:
    page = board.page(java_script_enabled=False)
    page.goto(BOARD)
    page.locator("#board").get_by_role("link", name="TER ↓").click()
    expect(page.get_by_role("columnheader", name="TER ↓")).to_have_attribute("aria-sort", "ascending")
    page.get_by_text("Columns: 3 of 3").click()
    page.get_by_role("checkbox", name="chrF2").uncheck()
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("columnheader", name="chrF2")).to_have_count(0)


def test_names_are_whole_and_labels_tell_something(board: Site) -> None:
    page = board.page(viewport={"width": 1280, "height": 900})
    page.goto(f"{BOARD}?shown=all")
    board_table = page.get_by_role("table")
    name = board_table.get_by_role("rowheader", name=LONG)
    assert name.inner_text() == LONG, "the team is not said twice"
    assert board_table.get_by_role("rowheader", name="mast").inner_text() == "mast harbour"
    cut = "each => [...each.querySelectorAll('th, td')].filter(one => one.scrollWidth > one.clientWidth + 1).length"
    assert board_table.evaluate(cut) == 0
    region = page.get_by_role("region", name="Leaderboard")
    assert region.evaluate("each => each.scrollWidth <= each.clientWidth"), "nothing is out of sight at 1280"
    labels = board_table.locator(".badge").all_inner_texts()
    assert sorted(labels) == ["contrastive", "primary"], "only where a team has several"
    assert "constrained" in board_table.get_by_role("row", name="plank").inner_text()
    page.goto(BOARD)
    assert "All are primary submissions." in page.get_by_role("main").inner_text()
    assert page.get_by_role("table").locator(".badge").count() == 0


def test_the_head_and_the_system_stay_in_sight_while_scrolling(board: Site) -> None:
    page = board.page(viewport={"width": 1280, "height": 500})
    page.goto(f"{BOARD}?shown=all")
    head, system = page.locator("#board thead th.system"), page.locator("#board tbody th.system").last
    region = page.get_by_role("region", name="Leaderboard")
    for width, height in ((1280, 160), (700, 120)):
        page.set_viewport_size({"width": width, "height": height})
        if width == 1280:
            system.evaluate("each => each.scrollIntoView({ block: 'center' })")
        else:
            # On a narrow screen the region of the table scrolls, both ways.
            region.evaluate("each => { each.scrollIntoView(); each.scrollTo(10_000, 10_000); }")
        box, below = head.bounding_box(), system.bounding_box()
        assert box is not None
        assert below is not None
        assert box["y"] >= -1, width
        assert box["y"] <= 20, "the head is at the edge of the window or the region"
        assert box["x"] >= 0
        assert below["x"] >= 0
        top = "each => { const box = each.getBoundingClientRect(); "
        top += "return each.contains(document.elementFromPoint(box.x + 5, box.y + box.height / 2)); }"
        assert head.evaluate(top), "nothing covers the head"
        assert below["y"] < height, "the last system is in sight"
    assert region.evaluate("each => each.scrollLeft") > 0, "the narrow one was scrolled sideways"


@pytest.mark.thorough
def test_people_tracks_and_long_names_fit_a_laptop(board: Site) -> None:
    _judge(board)
    page = board.page(viewport={"width": 1280, "height": 900})
    page.goto(f"{BOARD}?shown=all")
    assert page.get_by_role("columnheader", name="People").first.inner_text().split() == ["People", "score"]
    expect(page.get_by_role("columnheader", name="Track")).to_be_visible()
    region = page.get_by_role("region", name="Leaderboard")
    assert region.evaluate("each => each.scrollWidth <= each.clientWidth"), "nothing is out of sight at 1280"
    check_page(page, f"{BOARD}?shown=all")


def test_a_corrected_test_set_says_what_changed(board: Site) -> None:
    olga = board.service.account("olga")
    board.service.campaign("news", title="News", organisers=(olga,))
    program = board.service.program(olga)
    (test_set,) = program.get("/api/v1/campaigns/news/test-sets").json()["items"]
    other = REFERENCE.replace(b"sails", b"drifts", 200)
    corrected = program.post(
        "/api/v1/campaigns/news/corrections",
        files={"references": ("A.txt", other)},
        data={"test_set": str(test_set["id"]), "reason": "Ships drift."},
    )
    assert corrected.status_code == 201, corrected.text
    board.work()
    page = board.page(viewport={"width": 1280, "height": 900})
    page.goto(f"{BOARD}?shown=all")
    first = page.locator("#board tbody tr").first
    assert systems(page)[0] == "mast", "its verb was right after all"
    change = first.locator("td[data-title='Change']").inner_text()
    assert change.startswith("+")
    assert change.split()[-2:] == ["up", "1"]
    page.get_by_role("link", name="news@1").click()
    expect(page.locator("#board")).to_contain_text("This test set was replaced")
    assert page.locator("td[data-title='Change']").count() == 0


def test_on_a_phone_every_system_is_a_card(board: Site) -> None:
    page = board.page(viewport={"width": 390, "height": 844})
    check_page(page, f"{BOARD}?shown=all")
    page.set_viewport_size({"width": 390, "height": 844})
    card = page.get_by_role("row", name="mast")
    box = card.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert box["height"] > 60, "metrics are below each other"
    region = page.get_by_role("region", name="Leaderboard")
    assert region.evaluate("each => each.scrollWidth <= each.clientWidth")


@pytest.mark.thorough
def test_a_finished_campaign_opens_on_its_ranking(board: Site) -> None:
    page = board.page()
    check_page(page, "/campaigns/news")
    first = page.get_by_role("heading", level=2).first
    assert first.inner_text() == "Results on news"
    rows = page.get_by_role("region", name="Leaderboard").locator("tbody tr")
    assert rows.count() == 3
    assert "Sign in to participate" not in page.get_by_role("main").inner_text()
    page.get_by_text("Show BibTeX").click()
    citation = page.locator("pre").inner_text()
    assert citation.startswith("@misc{news-results,")
    assert "/campaigns/news}" in citation
    page.get_by_role("link", name="Leaderboard with all metrics").click()
    assert page.get_by_role("columnheader", name="chrF2").is_visible()


@pytest.mark.thorough
def test_a_rank_by_people_has_a_range_only_where_it_may_be_another(board: Site) -> None:
    _judge(board)
    page = board.page(viewport={"width": 1280, "height": 900})
    page.goto(f"{BOARD}?shown=all")
    expect(page.locator("#board thead")).to_contain_text("People")
    for cell in page.locator("#board td[data-title='Rank by people']").all():
        small = cell.locator("small")
        assert not small.count() or "–" in small.inner_text(), "a range of one rank is the rank"


@pytest.mark.thorough
def test_other_sites_show_the_board_in_a_frame_and_no_other_page(board: Site) -> None:
    board.service.campaign("news", title="News", embeddable=True)
    check_page(board.page(), "/campaigns/news/embed")
    page = board.page()
    # The port is another, so it is another site.
    with other_site(f'<iframe src="{board.url}/campaigns/news/embed" title="a"></iframe>') as address:
        board.allowed.append(f"asked another server: {address}")
        page.goto(address)
        frame = page.frame_locator("iframe")
        expect(frame.get_by_role("link", name="News")).to_be_visible()
        assert frame.locator("tbody tr").count() == 3
    with other_site(f'<iframe src="{board.url}{BOARD}" title="a"></iframe>') as address:
        board.allowed += [
            f"asked another server: {address}",
            "frame-ancestors",
            f"{BOARD}: net::ERR_BLOCKED_BY_RESPONSE",
        ]
        page.goto(address)
        expect(page.frame_locator("iframe").locator("#board")).to_have_count(0)


def _judge(board: Site) -> None:
    """Judgments by one annotator, and the rule that ranks by them."""
    olga = board.service.account("olga")
    board.service.campaign("news", title="News", organisers=(olga,))
    rows = "".join(
        f"eva\t{system}\t{segment}\t{score + segment % 5}\n"
        for system, score in (("mast", 20), ("plank", 80), (LONG, 50))
        for segment in range(40)
    )
    program = board.service.program(olga)
    files = {"files": ("esa.tsv", f"annotator\tsystem\tsegment\tscore\n{rows}".encode())}
    stored = program.post(
        "/api/v1/campaigns/news/human-scores", files=files, data={"called": "esa", "standardise": "false"}
    )
    assert stored.status_code == 201, stored.text
    rules = {"human_rule": "human:wmt25", "human_judgments": "esa"}
    assert program.patch("/api/v1/campaigns/news", json=rules).status_code < 300


@contextmanager
def other_site(html: str) -> Iterator[str]:
    """A page of somebody else; its address."""
    app = FastAPI()

    @app.get("/{path:path}")
    def show(path: str) -> HTMLResponse:
        return HTMLResponse(f"<!DOCTYPE html><html lang=en><title>x</title><link rel=icon href=data:,>{html}")

    with served(app) as port:
        yield f"http://127.0.0.1:{port}"
