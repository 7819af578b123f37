"""The page that everybody meets first, and that of errors."""

import pytest

from models.schema.roles import SiteRole, Visibility
from tests.web.browser.looks import check_page
from tests.web.browser.site import Site


@pytest.mark.thorough
def test_the_first_page_fits_every_screen_and_is_accessible(site: Site) -> None:
    root = site.service.account("root", SiteRole.ADMINISTRATOR)
    site.service.campaign("open waters", organisers=(root,), visibility=Visibility.PUBLIC)
    for page in (site.page(), site.page(root)):
        check_page(page, "/")
        assert page.get_by_role("main").get_by_text("open waters").last.is_visible()


@pytest.mark.thorough
def test_an_administrator_finds_out_what_to_do_first(site: Site) -> None:
    root = site.service.account("root", SiteRole.ADMINISTRATOR)
    page = site.page(root)
    check_page(page, "/")
    page.get_by_role("button", name="Try the demo campaign").click()
    page.wait_for_url("**/campaigns/demo")
    assert page.get_by_role("heading", name="Demo: Harbour News").is_visible()
    page.goto("/new-campaign")
    page.get_by_label("Name", exact=True).fill("wmt")
    page.get_by_role("button", name="Create campaign").click()
    checklist = page.get_by_role("region", name="Checklist")
    assert "0 of 5 done" in checklist.inner_text()
    check_page(page)
    checklist.get_by_role("link", name="Write its description").click()
    page.get_by_label("Description").fill("News, English into Czech.")
    page.get_by_role("button", name="Save").click()
    assert "1 of 5 done" in page.get_by_role("region", name="Checklist").inner_text()
    check_page(page, "/")


def test_errors_are_pages_too(site: Site) -> None:
    page = site.page()
    check_page(page, "/nowhere", status=404)
    assert page.get_by_role("alert").is_visible()


def test_pages_work_without_scripts(site: Site) -> None:
    site.service.campaign("open waters")
    page = site.page(java_script_enabled=False)
    page.goto("/")
    assert page.get_by_role("main").get_by_text("open waters").is_visible()
