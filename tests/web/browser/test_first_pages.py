"""The page that everybody meets first, and that of errors."""

from models.schema.roles import SiteRole, Visibility
from tests.web.browser.looks import check_page
from tests.web.browser.site import Site


def test_the_first_page_fits_every_screen_and_is_accessible(site: Site) -> None:
    root = site.service.account("root", SiteRole.ADMINISTRATOR)
    site.service.campaign("open waters", organisers=(root,), visibility=Visibility.PUBLIC)
    for page in (site.page(), site.page(root)):
        check_page(page, "/")
        assert page.get_by_role("main").get_by_text("open waters").is_visible()


def test_errors_are_pages_too(site: Site) -> None:
    page = site.page()
    check_page(page, "/nowhere", status=404)
    assert page.get_by_role("alert").is_visible()


def test_pages_work_without_scripts(site: Site) -> None:
    site.service.campaign("open waters")
    page = site.page(java_script_enabled=False)
    page.goto("/")
    assert page.get_by_role("main").get_by_text("open waters").is_visible()
