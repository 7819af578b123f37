"""What is deleted in a browser without scripts: a session, an account, a campaign; what goes is said before."""

from __future__ import annotations

import re
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import func, select

from models.database.session import reading
from models.schema.accounts import Account, AuditEntry, LinkedIdentity
from models.schema.campaigns import Campaign
from tests.servers import free_port
from tests.service.port import NAME, Port
from tests.web.browser.looks import check_page
from tests.web.browser.site import Site
from tests.web.pages.accounts.provider import CLIENT, provided

DANGER = "/campaigns/port%201/manage/danger"


def counted(site: Site, table: type, *where: object) -> int:
    with reading(site.service.engine) as connection:
        return connection.scalar(select(func.count()).select_from(table).where(*where)) or 0  # type: ignore[arg-type]


def confirm(page: Page, typed: str) -> None:
    page.get_by_label(re.compile("to confirm")).fill(typed)
    page.get_by_role("button", name="Delete", exact=True).click()


@pytest.mark.thorough
def test_whoever_came_through_a_provider_ends_another_session_and_deletes_the_account(
    browser: Browser, service_url: str
) -> None:
    with ExitStack() as stack:
        provider = stack.enter_context(provided())
        provider.person = {"sub": "17", "email": "zoe@example.org", "email_verified": True, "name": "Zoe"}
        university = {**CLIENT, "issuer": provider.url, "title": "The university", "trusted_email": True}
        port = free_port()
        # Where the provider sends browsers back to.
        settings = {"public_url": f"http://127.0.0.1:{port}", "sign_up": "open", "sign_in_with": {"uni": university}}
        site = Site.start(service_url, browser, stack, port, **settings)
        site.allowed.append(f"asked another server: {provider.url}")
        here, elsewhere = (site.page(java_script_enabled=False) for _ in range(2))
        for page in (here, elsewhere):
            page.goto("/sign-in?next=%2Fteams")
            page.get_by_role("button", name="Sign in with The university").click()
            expect(page).to_have_url(f"{site.url}/teams")
        assert counted(site, Account) == counted(site, LinkedIdentity) == 1
        here.goto("/account")
        expect(here.get_by_role("row", name=re.compile("The university"))).to_be_visible()
        here.get_by_role("button", name=re.compile("Sign out session")).click()
        elsewhere.goto("/account")
        expect(elsewhere).to_have_url(f"{site.url}/sign-in?next=%2Faccount")
        here.goto("/account")
        expect(here.get_by_role("button", name=re.compile("Sign out session"))).to_have_count(0)
        here.get_by_role("link", name="Delete your account…").click()
        word = here.locator("label code").inner_text()
        confirm(here, "no")
        expect(here.get_by_role("alert")).to_contain_text(f"Type {word}")
        confirm(here, word)
        here.goto("/account")
        expect(here).to_have_url(f"{site.url}/sign-in?next=%2Faccount")
        assert counted(site, Account, Account.email == "zoe@example.org") == counted(site, LinkedIdentity) == 0
        site.raise_complaints()


def test_a_campaign_goes_once_its_name_is_typed_and_the_audit_log_stays(site: Site) -> None:
    port = Port.opened(site.service)
    page = site.page(port.accounts["ann"], java_script_enabled=False)
    page.goto(DANGER)
    page.get_by_role("link", name="Delete… the campaign").click()
    check_page(site.page(port.accounts["ann"]), page.url.removeprefix(site.url))
    expect(page.get_by_role("link", name="Export everything")).to_have_attribute("href", re.compile("/export$"))
    confirm(page, "port")
    expect(page.get_by_role("alert")).to_contain_text(f"Type {NAME} to delete it.")
    assert counted(site, Campaign) == 1
    confirm(page, NAME)
    expect(page.get_by_role("status")).to_contain_text("Campaign deleted.")
    assert counted(site, Campaign) == 0
    assert counted(site, AuditEntry, AuditEntry.action == "campaign.delete") == 1
    gone = page.goto("/campaigns/port%201")
    assert gone is not None
    assert gone.status == 404
