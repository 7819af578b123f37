"""How many forms and seconds the jobs of organisers and teams take: `python -m tests.web.browser.jobs`.

The demo campaign's files, a fresh SQLite database, one browser; what people need to read and to type comes on top.
"""

from __future__ import annotations

import re
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from models.database.migrate import upgrade
from models.schema.roles import SiteRole
from tests.web.browser.conftest import CHROMIUM, FLAGS
from tests.web.browser.site import Site

DEMO = Path(__file__).parents[3] / "demo" / "harbour"
TIMES = {
    "development_ends": "2127-01-10T12:00",
    "test_starts": "2127-01-10T12:00",
    "test_ends": "2127-01-20T18:00",
    "results_at": "2127-02-01T12:00",
}


def create_campaign(page: Page) -> None:
    """Three phases and two test sets, in three forms."""
    page.goto("/new-campaign")
    for name, value in {"name": "wmt27", "title": "WMT27", "time_zone": "Europe/Prague", **TIMES}.items():
        page.locator(f"#{name}").fill(value)
    page.get_by_role("button", name="Create campaign").click()
    page.wait_for_url("**/manage")
    for name, phase, labels in (("dev", "Development", "A"), ("test", "Test", "AB")):
        page.goto("/campaigns/wmt27/manage/test-sets/new")
        page.locator("#references").set_input_files([DEMO / "refs" / f"{label}.txt" for label in labels])
        page.locator("#source").set_input_files(DEMO / "source.txt")
        for field, value in {"test_set_name": name, "source_language": "cs", "target_language": "en"}.items():
            page.locator(f"#{field}").fill(value)
        page.locator("#phase").select_option(phase)
        page.get_by_role("button", name="Add test set").click()
        page.wait_for_url("**done=test-set")


def invite(page: Page) -> str:
    """Three teams, in one form; the link of the first one."""
    page.goto("/campaigns/wmt27/invitations")
    page.locator("#email").fill("a@example.org b@example.org c@example.org")
    page.get_by_role("button", name="Invite").click()
    found = re.search(r"/invitations/\S+", page.locator("pre").first.inner_text())
    assert found is not None
    return found[0]


def first_score(site: Site, link: str) -> None:
    """From the invitation to scores: the form of the invitation, and that of the output."""
    page = site.page()
    page.goto(link)
    for field, value in {"name": "Mary", "password": "four horses in a boat", "new_team": "harbour"}.items():
        page.locator(f"#{field}").fill(value)
    page.locator("form[action$='sign-up'] button").click()
    page.get_by_role("link", name="Submit an output").click()
    page.locator("#file").set_input_files(DEMO / "systems" / "anchor.txt")
    page.locator("#system").fill("anchor")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url("**/submissions/*")
    site.work()
    page.get_by_role("region", name="Scores").wait_for()


def main() -> None:
    """Do all jobs, and print what each took."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright, ExitStack() as stack:
        url = f"sqlite:///{place}/jobs.db"
        upgrade(url)
        site = Site.start(url, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS), stack)
        page = site.page(site.service.account("olga", SiteRole.ORGANISER))
        begun = time.monotonic()
        create_campaign(page)
        created = time.monotonic()
        link = invite(page)
        invited = time.monotonic()
        first_score(site, link)
        scored = time.monotonic()
        page.goto("/")
        page.get_by_role("button", name="demo campaign").click()
        page.wait_for_url("**/campaigns/demo")
        print(f"campaign, three phases, two test sets: 3 forms, {created - begun:.1f} s")
        print(f"three teams invited: 1 form, {invited - created:.1f} s")
        print(f"from the invitation to scores: 2 forms, {scored - invited:.1f} s")
        print(f"the demo campaign: 1 click, {time.monotonic() - scored:.1f} s")


if __name__ == "__main__":
    main()
