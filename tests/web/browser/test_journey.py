"""A team from its invitation to its rank: everything by links and forms, as people do it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from models.schema.roles import PhaseKind, SiteRole
from tests.scheduler.jobs import similar_text
from tests.service.campaigns import given, submit_output, with_test_set
from tests.service.people import with_password
from tests.service.service import DAY
from tests.web.browser.site import Site

PASSWORD = "four horses in a boat"
SEGMENTS = 40
REFERENCE = "".join(f"the ship {number} sails to harbour {number % 7} with the tide\n" for number in range(SEGMENTS))
"""Their lines differ, so that nothing looks shifted."""


def test_a_team_signs_in_uploads_sees_its_rank_compares_and_withdraws(site: Site, tmp_path: Path) -> None:
    service = site.service
    olga, mary = service.account("olga", SiteRole.ORGANISER), service.account("mary")
    with_password(service, mary, PASSWORD)
    campaign = service.campaign("news", organisers=(olga,), teams=(service.team("harbour", mary), service.team("pier")))
    service.phase(campaign, "Test", PhaseKind.OPEN, ends=DAY)
    reference = REFERENCE.encode()
    with_test_set(service.engine, "news", given(reference=reference, source=reference), replicates=100)
    submit_output(service.engine, "news", "pier", "plank", similar_text(reference.rstrip(), 1) + b"\n")
    site.work()

    page = site.page()
    page.goto("/")
    page.get_by_role("banner").get_by_role("link", name="Sign in").click()
    sign_in(page, "a wrong guess at it")
    expect(page.get_by_role("alert")).to_be_visible()
    sign_in(page, PASSWORD)
    expect(page.get_by_role("banner").get_by_role("link", name="mary")).to_be_visible()

    page.goto("/")
    page.get_by_role("main").get_by_role("link", name="news").click()
    campaign_link(page, "Submit").click()
    file = tmp_path / "mast.txt"
    file.write_bytes(reference.replace(b"sails", b"drifts", 9))
    page.get_by_label("Output").set_input_files(file)
    page.get_by_label("System").fill("mast")
    page.get_by_label("Primary").check()
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/submissions/*")
    expect(page.get_by_role("status").first).to_contain_text("queued")
    site.work()
    expect(page.get_by_role("status").first).to_contain_text("done")

    campaign_link(page, "Leaderboard").click()
    board = page.get_by_role("table").first
    expect(board.get_by_role("row", name="mast")).to_be_visible()
    ranked = [row for row in board.get_by_role("row").all_inner_texts() if "mast" in row or "plank" in row]
    # Clusters may be there already, and are said behind the rank.
    assert [row.split()[0].rstrip(",") for row in ranked] == ["1", "2"]
    assert "mast" in ranked[0]

    campaign_link(page, "Compare").click()
    page.get_by_text("Systems: ").click()
    for system in ("mast", "plank"):
        page.get_by_role("checkbox", name=system).check()
    expect(page.get_by_role("button", name="Compare")).to_be_hidden()
    expect(page.get_by_role("main")).to_contain_text("plank")
    expect(page.get_by_role("table").first).to_be_visible()

    campaign_link(page, "Submissions").click()
    page.get_by_role("row", name="mast").get_by_role("link").first.click()
    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_role("status").first).to_contain_text("no longer ranked")
    campaign_link(page, "Leaderboard").click()
    expect(page.get_by_role("table").first).not_to_contain_text("mast")

    page.get_by_role("button", name="Sign out").click()
    page.goto("/campaigns/news/submissions")
    page.wait_for_url("**/sign-in?**")


def sign_in(page: Page, password: str) -> None:
    page.get_by_label("E-mail address").fill("mary@example.org")
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in").click()


def campaign_link(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name="Campaign").get_by_role("link", name=name, exact=True)
