"""The pages of campaigns in a real browser: an organiser opens, extends and publishes."""

from __future__ import annotations

import os
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import expect
from sqlalchemy import update

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.permissions import read_access
from models.database.session import reading, writing
from models.schema.base import now
from models.schema.campaigns import Phase
from models.schema.roles import Feedback, PhaseKind, SiteRole
from tests.service.campaigns import submit_output, with_test_set
from tests.service.service import DAY
from tests.web.browser.looks import check_page
from tests.web.browser.site import Site

PICTURES = os.environ.get("STEELYARD_TEST_PICTURES")
"""A folder for pictures of the pages, to be looked at."""


def keep(site: Site, page: object, name: str) -> None:
    if PICTURES:
        site.keep_picture(page, Path(PICTURES) / f"{name}.png")  # type: ignore[arg-type]


@pytest.mark.thorough
def test_the_pages_of_a_campaign_fit_everybody(site: Site) -> None:
    service = site.service
    olga = service.account("olga", SiteRole.ORGANISER)
    mary = service.account("mary")
    campaign = service.campaign(
        "wmt27.en-cs",
        title="News, English to Czech",
        description="Translate the news of a week, segment by segment.\n\nOnly data of the list are constrained.",
        time_zone="Europe/Prague",
        organisers=(olga,),
        teams=(service.team("harbour", mary), service.team("Ústav formální a aplikované lingvistiky")),
    )
    service.phase(campaign, "Development", PhaseKind.OPEN, begins=-20 * DAY, ends=-10 * DAY)
    now = service.phase(
        campaign, "Test", PhaseKind.BLIND, begins=-DAY, ends=3.2 * DAY, feedback=Feedback.LADDER, late="flag",
        grace_seconds=7200.0,
    )  # fmt: skip
    service.phase(campaign, "Results", PhaseKind.PUBLISHED, begins=10 * DAY)
    test_set = with_test_set(service.engine, "wmt27.en-cs")
    submit_output(service.engine, "wmt27.en-cs", "harbour", "mast", b"a\nb\nc\n")
    page = site.page(olga)
    home = "/campaigns/wmt27.en-cs"
    for name, path in {
        "overview": home,
        "manage": f"{home}/manage",
        **{f"manage {each}": f"{home}/manage/{each}" for each in ("test-sets", "teams", "live", "results")},
        "rules": f"{home}/manage/rules",
        "phase": f"{home}/manage/phases/{now}",
        "new-test-set": f"{home}/manage/test-sets/new",
        "test-set": f"{home}/manage/test-sets/{test_set}",
        "new-campaign": "/new-campaign",
    }.items():
        if name in ("overview", "manage"):
            # The others are in `test_every_page`.
            check_page(page, path)
        else:
            page.goto(path)
        keep(site, page, name)
        if PICTURES:
            page.emulate_media(color_scheme="dark")
            keep(site, page, f"{name}-dark")
            page.set_viewport_size({"width": 320, "height": 900})
            page.emulate_media(color_scheme="light")
            keep(site, page, f"{name}-phone")
    page.goto(home)
    assert page.locator("[data-until]").inner_text().startswith("3 days")


def test_an_organiser_opens_extends_and_publishes(site: Site) -> None:
    service = site.service
    page = site.page(service.account("olga", SiteRole.ORGANISER))
    page.goto("/")
    page.get_by_role("link", name="Create a campaign").click()
    page.get_by_label("Name", exact=True).fill("harbours")
    page.get_by_label("Time zone").fill("Europe/Prague")
    page.get_by_role("button", name="Create campaign").click()
    page.get_by_role("link", name="Add a phase").click()
    page.get_by_label("Name", exact=True).fill("Test")
    page.get_by_role("radio", name="Blind").check()
    soon = (datetime.now() + timedelta(days=2)).strftime("%Y-%m-%dT18:00")
    page.get_by_label("Deadline").fill(soon)
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Phases saved.").wait_for()
    page.get_by_role("link", name="Edit the phase Test").click()
    later = (datetime.now() + timedelta(days=4)).strftime("%Y-%m-%dT18:00")
    assert page.get_by_label("Deadline").input_value() == soon
    page.get_by_label("Deadline").fill(later)
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Add a test set").click()
    page.get_by_label("Name", exact=True).fill("news")
    page.get_by_label("References").set_input_files(
        [{"name": "A.txt", "mimeType": "text/plain", "buffer": b"one\ntwo\nthree\n"}]
    )
    page.get_by_label("Replicates").fill("0")
    page.get_by_role("button", name="Add test set").click()
    page.get_by_role("link", name="Edit the test set news").wait_for()
    page.get_by_role("navigation", name="Manage").get_by_role("link", name="Results").click()
    publish = page.locator("form", has=page.get_by_role("button", name="Publish now"))
    publish.get_by_role("button").click()
    page.get_by_text("Tick the box").wait_for()
    publish.get_by_label("I am sure").check()
    publish.get_by_role("button").click()
    page.get_by_text("Results published.").wait_for()
    with reading(service.engine) as connection:
        access = read_access(connection, COMMAND_LINE, "harbours")
    assert access.published
    assert [each.name for each in access.phases] == ["Test", "Published"]
    assert [each.released_at for each in access.test_sets.values()] == [None]


def test_a_page_with_a_countdown_is_loaded_again_when_the_phase_ends(site: Site) -> None:
    """By the browser's clock, which only the test moves; what the server says then comes from its own."""
    campaign = site.service.campaign("wmt")
    phase = site.service.phase(campaign, "Test", PhaseKind.OPEN, begins=-DAY, ends=DAY / 2)
    page = site.page()
    page.clock.install(time=0)
    page.clock.pause_at(3600)  # Far ahead: until it stands still, it goes on with the machine's.
    page.goto("/campaigns/wmt")
    countdown = page.locator("[data-until]")
    expect(countdown).to_have_text(re.compile(r"1[12]:\d\d:\d\d"))
    page.clock.fast_forward("11:30:00")
    expect(countdown).to_have_text(re.compile(r"0:\d\d:\d\d"))
    page.clock.fast_forward("00:30:00")
    expect(countdown).to_have_text("0:00:00")
    # Not before: the page is told of it and shows no countdown any more.
    with writing(site.service.engine) as connection:
        connection.execute(update(Phase).where(Phase.id == phase).values(ends_at=now() - 60))
    with page.expect_navigation():
        page.clock.fast_forward(1000)
    expect(countdown).to_have_count(0)
    expect(page.get_by_text("Closed for submissions")).to_be_visible()
