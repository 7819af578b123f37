"""That the checks of pages find what they look for."""

import pytest
from playwright.sync_api import Page

from tests.web.browser.looks import check_accessible, check_width
from tests.web.browser.site import Site

GOOD = "<!DOCTYPE html><html lang=en><title>x</title><main><h1>x</h1>{}</main>"


def test_what_is_wrong_with_a_page_is_found(site: Site) -> None:
    page: Page = site.page()
    page.set_viewport_size({"width": 320, "height": 600})
    page.set_content(GOOD.format("<p>fine</p>"))
    check_width(page)
    check_accessible(page)
    page.set_content(GOOD.format("<table width=900><tr><td>wide</table>"))
    with pytest.raises(AssertionError, match="wide on a screen of 320"):
        check_width(page)
    page.set_content(GOOD.format("<input><p style='color: #aaa; background: #fff'>pale</p>"))
    with pytest.raises(AssertionError, match="color-contrast") as raised:
        check_accessible(page)
    assert "label (critical)" in str(raised.value)


def test_what_the_content_policy_refuses_is_noticed(site: Site) -> None:
    page = site.page()
    page.goto("/")
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.ran = true'}))")
    assert page.evaluate("window.ran") is None
    with pytest.raises(AssertionError, match="Content Security Policy"):
        site.raise_complaints()
    site.complaints.clear()
