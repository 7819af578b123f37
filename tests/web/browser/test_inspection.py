"""Segments, metrics, runs and the queue in a real browser; `test_every_page` looks whether all can read them."""

import re

import pytest
from playwright.sync_api import expect

from models.schema.roles import PhaseKind, SiteRole
from tests.analysis.nightly_runs import add_nightly_runs, judge, output
from tests.service.campaigns import given, submit_output, with_test_set
from tests.service.inspected_campaign import look_at
from tests.web.browser.looks import check_page, check_width
from tests.web.browser.site import Site


def test_segments_are_readable_by_everybody(site: Site) -> None:
    bay = look_at(site.service)
    page = site.page(bay.organiser)
    page.goto("/campaigns/bay/segments")
    page.get_by_label("Order").select_option("difference")
    page.get_by_label("Containing text").fill("canary")
    # Leaving the field shows what it says; the next field has the focus then.
    page.get_by_label("Containing text").press("Tab")
    page.wait_for_url("**text=canary**")
    expect(page.get_by_role("article")).to_have_count(2)
    assert page.evaluate("document.activeElement.id") == "systems"
    # By keyboard to a single one, and on to the next.
    page.get_by_role("link", name="Segment 4").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("article")).to_have_count(1)
    page.goto("/campaigns/bay/segments?segment=2")
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_role("heading", name="Segment 3")).to_be_visible()


def test_segments_are_chosen_without_a_reload_and_read_by_keys(site: Site) -> None:
    bay = look_at(site.service)
    page = site.page(bay.organiser)
    page.goto("/campaigns/bay/segments?order=number")
    page.evaluate("window.stayed = true")
    page.get_by_label("Order").select_option("worst")
    expect(page.get_by_role("article").first).to_have_attribute("id", "s3")
    assert "order=worst" in page.url
    assert page.evaluate("window.stayed")
    second = page.get_by_role("article").nth(1).get_attribute("id")
    page.get_by_role("article").first.focus()
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.id") == second, "keys know the segments that came"
    page.keyboard.press("k")
    page.get_by_role("navigation", name="Views of segments").get_by_role("link", name="N-grams").click()
    expect(page.get_by_role("heading", name="More often in")).to_have_count(2)
    page.evaluate("window.stayed = true")
    first, second = (page.locator(f"#{each}").input_value() for each in ("first", "second"))
    assert first != second
    page.locator("#first").select_option(second)
    expect(page.locator("#first")).to_have_value(second)
    expect(page.locator("#second")).to_have_value(first)
    assert page.evaluate("window.stayed")
    check_width(page)
    page.get_by_role("link", name="blue ship").click()
    expect(page.get_by_role("article")).to_have_count(1)


@pytest.mark.thorough
def test_errors_that_people_marked_are_read_without_scripts(site: Site) -> None:
    bay = look_at(site.service)
    site.service.phase(bay.campaign, "out", PhaseKind.PUBLISHED)
    head = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    rows = "".join(
        f"dive\td\t2\t2\t{rater}\ts\t{target}\tAccuracy/Mistranslation\t{severity}\n"
        for rater, target, severity in (
            ("rosa", "sleeps the <v>old port</v> now", "Critical"),
            ("otto", "<v>sleeps the old</v> port now", "Major"),
            ("otto", "sleeps the old port now", "Minor"),
        )
    )
    files = {"files": ("mqm.tsv", (head + rows).encode())}
    stored = site.service.program(bay.organiser).post(
        "/api/v1/campaigns/bay/human-scores", files=files, data={"called": "mqm", "weights": "critical=10"}
    )
    assert stored.status_code == 201, stored.text
    page = site.page(java_script_enabled=False)
    page.goto("/campaigns/bay/segments?segment=2&system=gulls/dive")
    page.get_by_label("Marks").select_option("errors in mqm, by people")
    page.get_by_role("button", name="Show").click()
    article = page.get_by_role("article", name="Segment 2")
    expect(article.locator(".error-span.critical").first).to_have_text(re.compile("old"))
    assert [each.split(" annotator")[0] for each in article.get_by_role("listitem").all_inner_texts()] == [
        "major Accuracy/Mistranslation",
        "critical Accuracy/Mistranslation",
        "minor Accuracy/Mistranslation (something is missing)",
    ]
    check_page(site.page(), "/campaigns/bay/segments?segment=2&system=gulls/dive&marks=mqm")


@pytest.mark.thorough
def test_text_from_right_to_left_runs_that_way_whatever_is_marked_in_it(site: Site) -> None:
    organiser = site.service.account("olga")
    team = site.service.team("gulls", organiser)
    site.service.campaign("bahr", organisers=(organiser,), teams=(team,), title="بحر")
    texts = given("السفينة الزرقاء في الميناء\n".encode(), b"the blue ship\n", target_language="ar")
    with_test_set(site.service.engine, "bahr", texts)
    submit_output(site.service.engine, "bahr", "gulls", "dive", "البيضاء السفينة هناك\n".encode())
    site.work()
    page = site.page(organiser)
    check_page(page, "/campaigns/bahr/segments")
    ways = "each => getComputedStyle(each).direction"
    text = page.locator("dd[lang=ar]").last
    assert text.evaluate(ways) == "rtl"
    assert text.locator("ins").first.is_visible()
    assert text.locator(".missing").evaluate(ways) == "rtl"
    assert page.locator("dd[lang=en]").first.evaluate(ways) == "ltr"


def test_organisers_add_human_scores(site: Site) -> None:
    bay = look_at(site.service)
    page = site.page(bay.organiser)
    page.goto("/campaigns/bay/metrics")
    table = {"name": "scores.tsv", "mimeType": "text/plain", "buffer": b"system\tscore\ndive\t0.4\nsoar\t0.1\n"}
    page.get_by_label("Tables").set_input_files(table)  # type: ignore[arg-type]
    page.get_by_role("button", name="Add to").click()
    expect(page.get_by_text(re.compile("Human scores .* stored"))).to_be_visible()
    expect(page.get_by_role("heading", name="By system")).to_be_visible()
    expect(page.locator("svg.chart").first).to_be_visible()
    # The numbers of each chart.
    with page.expect_download() as started:
        page.get_by_role("link", name=re.compile("Save as CSV: human scores .* against BLEU")).click()
    lines = started.value.path().read_text().splitlines()
    assert re.fullmatch(r"system,BLEU,human scores \(.*@1\)", lines[0])
    assert {each.split(",")[0]: float(each.split(",")[2]) for each in lines[1:]} == {
        "soar": 0.1,
        "dive": 0.4,
    }
    page.get_by_label("New name").fill("ferry & co")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_text("Human scores ferry & co renamed.")).to_be_visible()
    page.get_by_label("I am sure").check()
    page.get_by_role("button", name="Delete the human scores").click()
    expect(page.get_by_text("Human scores ferry & co@1 deleted.")).to_be_visible()
    expect(page.get_by_label("I am sure")).to_have_count(0)


def test_runs_and_a_queue_that_keeps_itself_up_to_date(site: Site) -> None:
    outputs = [{"tug": output()}, {"tug": output(0.5, 2)}]
    judge(site.service.engine, add_nightly_runs(site.service.engine, site.service.settings.database_url, outputs)[-1])
    page = site.page(site.service.account("root", SiteRole.ADMINISTRATOR))
    page.goto("/nightly")
    page.get_by_role("link", name="gate").click()
    expect(page.get_by_text("1 regression in 1 score")).to_be_visible()
    expect(page.locator("svg.chart")).to_be_visible()
    check_width(page)
    with page.expect_download() as started:
        page.get_by_role("link", name="Save as CSV").click()
    lines = started.value.path().read_text().splitlines()
    assert lines[0] == "date,score,low,high"
    assert len(lines) == 1 + len(outputs)
    assert float(lines[1].split(",")[1]) > float(lines[2].split(",")[1]), "the second run is worse"
    page.goto("/queue")
    look_at(site.service, work=False)
    expect(page.get_by_text("Campaigns in progress")).to_be_visible()
    expect(page.get_by_text("Nothing is processing the open work")).to_be_visible()
