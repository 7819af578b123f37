"""The first page: what Steelyard is, what is open, how one stands, and what is left to do."""

from __future__ import annotations

import re

from models.schema.roles import DeclaredKind, PhaseKind, SiteRole, Visibility
from tests.scheduler.jobs import work_off
from tests.service.campaigns import REFERENCE, given, submit_output, with_test_set
from tests.service.service import DAY, Service
from tests.statements import caught


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html[html.index("<main") :]).split())


def test_a_visitor_reads_what_this_is(service: Service) -> None:
    page = words(service.client().get("/").text)
    assert "Steelyard runs evaluation campaigns of machine translation" in page
    assert "No campaigns yet" in page
    assert "Sign in" in page


def test_a_countdown_is_loaded_where_something_counts_down(service: Service) -> None:
    visitor = service.client()

    def loaded() -> tuple[bool, bool]:
        page = visitor.get("/").text
        return "/static/countdown." in page, "data-until=" in page

    assert loaded() == (False, False)
    news = service.campaign("news", title="News")
    with_test_set(service.engine, "news", given(reference=b"a\nb\nc\n"))
    assert "News" in visitor.get("/").text
    assert loaded() == (False, False), "without phases it has no deadline"
    service.phase(news, "Test", PhaseKind.OPEN, begins=-DAY, ends=DAY)
    assert loaded() == (True, True)
    service.phase(news, "Results", PhaseKind.PUBLISHED, begins=-DAY / 2)
    assert loaded() == (False, False), "nothing follows"
    service.phase(news, "Next", PhaseKind.OPEN, begins=DAY)
    assert loaded() == (True, True)


def test_an_organiser_without_campaigns_is_offered_two_ways_to_begin(service: Service) -> None:
    olga = service.browser(service.account("olga", SiteRole.ORGANISER))
    page = olga.get("/").text
    assert 'href="/new-campaign"' in page
    answer = olga.post("/demo-campaign", follow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/campaigns/demo")
    assert "Demo: Harbour News" in words(olga.get("/").text)
    # To others it does not exist.
    assert "Demo" not in service.client().get("/").text


def test_campaigns_are_listed_with_pairs_deadline_teams_and_own_rank(service: Service) -> None:
    mary = service.account("mary")
    teams = (service.team("harbour", mary), service.team("pier"))
    opened = service.campaign("news", teams=teams, title="News")
    service.phase(opened, "Test", PhaseKind.OPEN, begins=-DAY, ends=2 * DAY)
    later = service.campaign("later", title="Later on")
    service.phase(later, "Test", PhaseKind.OPEN, begins=3 * DAY)
    reference = b"the ship sails to the harbour\nthe tide comes in\nnobody is on the pier tonight\n"
    with_test_set(service.engine, "news", given(reference=reference))
    with_test_set(service.engine, "later", given(reference=b"a\nb\nc\n"))
    submit_output(service.engine, "news", "pier", "plank", reference)
    submit_output(service.engine, "news", "harbour", "mast", reference.replace(b"tonight", b"today"))
    work_off(service.settings)
    page = words(service.browser(mary).get("/").text)
    found = page[page.index("Open for submissions") : page.index("Coming")]
    assert "English → Czech · 3 segments" in found
    # Which one depends on the second.
    assert "closes in 1 day 23 h" in found or "closes in 2 days" in found
    assert "2 teams" in found
    assert "Rank 2 of 2" in found
    assert "mast on news" in found
    assert "Test begins in" in page[page.index("Coming") :]
    assert "Rank" not in words(service.client().get("/").text)


def test_no_rank_is_shown_while_the_board_is_hidden(service: Service) -> None:
    mary = service.account("mary")
    campaign = service.campaign("news", teams=(service.team("harbour", mary), service.team("pier")))
    service.phase(campaign, "Test", PhaseKind.BLIND, begins=-DAY, ends=DAY)
    with_test_set(service.engine, "news")
    for team in ("pier", "harbour"):
        submit_output(service.engine, "news", team, f"of {team}", REFERENCE, declared=DeclaredKind.PRIMARY)
    work_off(service.settings)
    page = words(service.browser(mary).get("/").text)
    assert "Submit an output" in page
    assert "Rank" not in page


def test_the_checklist_follows_a_campaign_until_it_is_open(service: Service) -> None:
    olga = service.account("olga", SiteRole.ORGANISER)
    browser = service.browser(olga)
    browser.post("/new-campaign", data={"name": "wmt", "title": "The task"})
    for place in ("/", "/campaigns/wmt", "/campaigns/wmt/manage"):
        assert "0 of 5 done" in words(browser.get(place).text), place
    campaign = service.campaign("wmt", description="What it is about", visibility=Visibility.PRIVATE)
    with_test_set(service.engine, "wmt")
    page = browser.get("/").text
    assert "2 of 5 done" in words(page)
    # The next step leads to where it is done.
    following = page[page.index('<li class="next">') :]
    assert re.search(r'href="([^"]+)"', following)[1] == "/campaigns/wmt/manage/phases/new"  # type: ignore[index]
    service.phase(campaign, "Test", PhaseKind.OPEN, begins=DAY)
    service.campaign("wmt", teams=(service.team("harbour"),), visibility=Visibility.PRIVATE)
    assert "4 of 5 done" in words(browser.get("/campaigns/wmt").text)
    service.campaign("wmt", visibility=Visibility.PUBLIC)
    assert "of 5 done" not in browser.get("/").text
    assert "of 5 done" not in service.client().get("/campaigns/wmt").text


def test_more_campaigns_take_no_more_statements(service: Service) -> None:
    mary = service.account("mary")
    team = service.team("harbour", mary)
    browser = service.browser(mary)
    counts = []
    for many in (range(1), range(1, 5)):
        for number in many:
            name = f"news {number}"
            service.campaign(name, teams=(team,))
            with_test_set(service.engine, name, given(reference=f"a {number}\nb\nc\n".encode()))
            submit_output(service.engine, name, "harbour", "mast", b"a\nb\nc\n")
        work_off(service.settings)
        browser.get("/")
        with caught() as made:
            page = browser.get("/").text
        counts.append(len([each for each, _ in made if not each.startswith("UPDATE")]))
        assert page.count("<strong>Rank 1</strong>") == len(many) + (len(counts) - 1)
    assert counts[0] == counts[1], counts
