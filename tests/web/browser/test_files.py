"""Forms with files: kept after an error, dropped on the form, counted before they are sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from models.schema.roles import PhaseKind, SiteRole
from tests.service.campaigns import given, with_test_set
from tests.service.service import DAY
from tests.web.browser.looks import check_page
from tests.web.browser.site import PATIENCE_MILLISECONDS, Site

LINES = "".join(f"the ship {number} sails to harbour {number % 7} with the tide\n" for number in range(40))
DROP = """([text, place]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "dropped.txt", { type: "text/plain" }));
    const target = document.querySelector(place);
    for (const kind of ["dragover", "drop"])
        target.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: data }));
}"""


def test_a_file_is_counted_kept_and_sent(site: Site, tmp_path: Path) -> None:
    service = site.service
    mary = service.account("mary")
    campaign = service.campaign("news", teams=(service.team("harbour", mary),))
    service.phase(campaign, "Test", PhaseKind.OPEN, begins=-DAY, ends=DAY)
    with_test_set(service.engine, "news", given(reference=LINES.encode(), source=LINES.encode()))
    # What is refused is a status of an answer that a script has asked for.
    site.allowed.append("/campaigns/news/submit")
    page = site.page(mary)
    check_page(page, "/campaigns/news/submit")
    file = tmp_path / "out.txt"
    file.write_text(LINES.replace("sails", "drifts"))
    page.get_by_label("Output").set_input_files(file)
    expect(page.locator(".counted")).to_contain_text("out.txt: 40 lines")
    assert page.locator(".counted .error").count() == 0
    # A name that is refused: the file is still there, and the error is at its field.
    page.get_by_label("System").fill("a/b")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert").first).to_be_visible(timeout=PATIENCE_MILLISECONDS)
    assert "choose the file again" not in page.get_by_role("main").inner_text()
    assert page.get_by_label("Output").evaluate("each => each.files[0].name") == "out.txt"
    page.get_by_label("System").fill("mast")
    page.evaluate(DROP, [LINES + "one too many\n", "#file"])
    expect(page.locator(".counted .error")).to_contain_text("41 lines")
    expect(page.locator(".counted .error")).to_contain_text("1 fewer")
    page.evaluate(DROP, [LINES, "#file"])
    expect(page.locator(".counted")).to_contain_text("dropped.txt: 40 lines")
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/submissions/1")


def test_a_test_set_is_added_in_one_go(site: Site, tmp_path: Path) -> None:
    olga = site.service.account("olga", SiteRole.ORGANISER)
    site.service.campaign("news", organisers=(olga,))
    site.allowed.append("/manage/test-sets/new")
    page = site.page(olga)
    page.goto("/campaigns/news/manage/test-sets/new")
    reference = tmp_path / "A.txt"
    reference.write_text(LINES)
    page.get_by_label("References").set_input_files(reference)
    page.get_by_label("Name", exact=True).fill("news")
    page.get_by_label("Target language").fill("not a language")
    page.get_by_label("Replicates").fill("some")
    page.get_by_role("button", name="Add test set").click()
    expect(page.locator("#target_language-error")).to_be_visible(timeout=PATIENCE_MILLISECONDS)
    expect(page.locator("#replicates-error")).to_be_visible()
    page.get_by_label("Target language").fill("cs")
    page.get_by_label("Replicates").fill("20")
    page.get_by_role("button", name="Add test set").click()
    page.wait_for_url("**/manage/test-sets?done=test-set")
    assert page.get_by_role("row", name="news").is_visible()


@pytest.mark.thorough
def test_a_phase_is_planned_with_pickers(site: Site) -> None:
    olga = site.service.account("olga", SiteRole.ORGANISER)
    site.service.campaign("news", organisers=(olga,), time_zone="Europe/Prague")
    page = site.page(olga)
    check_page(page, "/campaigns/news/manage/phases/new")
    page.get_by_label("Name").fill("Test")
    page.get_by_label("Deadline").fill("2027-01-20T18:00")
    assert page.get_by_label("Deadline").get_attribute("type") == "datetime-local"
    page.get_by_role("button", name="Save").click()
    shown = page.get_by_role("main").inner_text()
    assert "20 January 2027, 18:00" in shown
    assert "Europe/Prague" in shown
    # An hour that exists twice is asked for with its offset.
    page.get_by_role("link", name="Edit the phase Test").click()
    page.get_by_label("Deadline").fill("2027-10-31T02:30")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#ends-error")).to_contain_text("ambiguous")
    page.get_by_label("Deadline").fill("2027-10-31T02:30+02:00")
    page.get_by_role("button", name="Save").click()
    assert "31 October 2027, 02:30" in page.get_by_role("main").inner_text()
