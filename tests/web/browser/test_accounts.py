"""People sign up, sign in, invite each other and make tokens, in a browser without scripts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from models.schema.roles import SiteRole, Visibility
from tests.service.people import PASSWORD, with_password
from tests.web.browser.looks import check_page
from tests.web.browser.site import Site


def shown_link(page: Page) -> str:
    """The path of the link that the page shows once."""
    return re.sub(r"^https?://[^/]+", "", page.locator("code.secret").inner_text())


@pytest.mark.thorough
def test_a_team_comes_together_by_invitations(site: Site) -> None:
    mary = with_password(site.service, site.service.account("mary"))
    site.service.team("harbour", mary)
    lead = site.page(java_script_enabled=False)
    lead.goto("/teams/harbour")
    expect(lead).to_have_url(f"{site.url}/sign-in?next=%2Fteams%2Fharbour")
    lead.get_by_label("E-mail address").fill("mary@example.org")
    lead.get_by_label("Password").fill("wrong")
    lead.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(lead.get_by_role("alert")).to_contain_text("There is no account with this address and this password")
    expect(lead.get_by_label("E-mail address")).to_have_value("mary@example.org")
    lead.get_by_label("Password").fill(PASSWORD)
    lead.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(lead).to_have_url(f"{site.url}/teams/harbour")
    lead.get_by_label(re.compile("E-mail address")).fill("zoe@example.org")
    lead.get_by_role("button", name="Invite").click()
    link = shown_link(lead)
    member = site.page(java_script_enabled=False)
    member.goto(link)
    member.get_by_label("Your name").fill("Zoë")
    member.get_by_label("Password").fill(PASSWORD)
    member.get_by_role("button", name="Sign up and accept").click()
    expect(member).to_have_url(f"{site.url}/teams/harbour")
    expect(member.get_by_role("row", name=re.compile("Zoë"))).to_contain_text("member")
    member.goto("/account/tokens")
    member.get_by_label("Name").fill("laptop")
    member.get_by_role("button", name="Create token").click()
    expect(member.locator("code.secret")).to_have_text(re.compile("^sty_"))
    expect(member.get_by_role("row", name=re.compile("laptop"))).to_contain_text("read, submit")
    member.get_by_role("button", name="Revoke the token laptop").click()
    expect(member.get_by_role("row", name=re.compile("laptop"))).to_contain_text("revoked")
    member.get_by_role("button", name="Sign out").click()
    expect(member.get_by_role("status")).to_contain_text("You have signed out")
    member.goto("/teams/harbour")
    expect(member).to_have_url(re.compile("/sign-in"))


@pytest.mark.thorough
def test_invitations_fit_every_screen_and_are_accessible(site: Site) -> None:
    """Long names and a link that was just made; all other pages are in `test_every_page`."""
    root = with_password(site.service, site.service.account("root", SiteRole.ADMINISTRATOR))
    long = site.service.account("maximiliana.von-und-zu-wolkenstein-an-der-rur")
    site.service.team("harbour", root, long)
    site.service.campaign("regatta", organisers=(root,), visibility=Visibility.PUBLIC)
    page = site.page(root)
    page.goto("/invitations")
    page.get_by_label(re.compile("E-mail address")).fill("zoe@example.org")
    page.get_by_role("button", name="Invite").click()
    link = shown_link(page)
    check_page(page, "/invitations")
    check_page(site.page(), link)
