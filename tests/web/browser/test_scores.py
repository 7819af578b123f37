"""A submission begins with its scores; compare opens on the best; segments are walked by keys."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from models.schema.roles import DeclaredKind, PhaseKind
from tests.service.campaigns import given, submit_output, with_test_set
from tests.service.service import DAY
from tests.web.browser.looks import check_page
from tests.web.browser.site import Site

REFERENCE = "".join(f"the ship {number} sails to harbour {number % 7} with the tide\n" for number in range(60)).encode()


@pytest.fixture
def mary(site: Site) -> Page:
    """The window of a member of "harbour", which has handed in "mast" twice; four systems are ranked."""
    service = site.service
    account = service.account("mary")
    teams = (service.team("harbour", account), *(service.team(each) for each in ("pier", "quay", "dock")))
    campaign = service.campaign("news", teams=teams, title="News")
    service.phase(campaign, "Test", PhaseKind.OPEN, begins=-DAY, ends=DAY)
    with_test_set(service.engine, "news", given(reference=REFERENCE, source=REFERENCE), replicates=100)
    outputs = (
        ("harbour", "mast", REFERENCE.replace(b"sails", b"drifts")),
        ("harbour", "mast", REFERENCE.replace(b"sails", b"drifts", 20)),
        ("pier", "plank", REFERENCE.replace(b"tide", b"tides")),
        ("quay", "rope", REFERENCE.replace(b"the ", b"a ")),
        ("dock", "crane", REFERENCE.replace(b"the ", b"a ").replace(b"harbour", b"port")),
    )
    for team, system, lines in outputs:
        submit_output(service.engine, "news", team, system, lines, declared=DeclaredKind.PRIMARY)
    site.work()
    return site.page(account)


def test_a_submission_begins_with_its_scores(mary: Page) -> None:
    check_page(mary, "/submissions/2")
    headings = mary.get_by_role("heading", level=2).all_inner_texts()
    assert headings[:2] == ["Scores", "Checks"]
    scores = mary.get_by_role("region", name="Scores")
    assert scores.get_by_role("columnheader").all_inner_texts() == ["Metric", "Against A", "Best before", "Change"]
    expect(scores.get_by_role("row", name="BLEU")).to_contain_text("▲")
    assert "Rank 1 of 4" in mary.get_by_role("main").inner_text()
    # Signatures are folded away, each with its button.
    signature = mary.locator("code.signature").first
    assert not signature.is_visible()
    mary.get_by_text("Signatures, to repeat").click()
    assert signature.is_visible()
    mary.get_by_role("link", name="Rank 1 of 4").click()
    assert mary.url.endswith("#s2")


@pytest.mark.thorough
def test_the_list_shows_scores_and_dims_what_is_withdrawn(mary: Page) -> None:
    mary.goto("/submissions/1")
    mary.get_by_role("button", name="Withdraw").click()
    check_page(mary, "/campaigns/news/submissions")
    rows = mary.get_by_role("region", name="Submissions").locator("tbody tr")
    assert mary.get_by_role("columnheader", name="BLEU", exact=True).count() == 1, "the metric is named once"
    assert not any("BLEU" in each for each in rows.all_inner_texts())
    assert [each.get_attribute("class") or "" for each in rows.all()] == ["", "dimmed"]
    assert "withdrawn ones are dimmed" in mary.get_by_role("main").inner_text()


def publish(site: Site) -> None:
    campaign = site.service.campaign("news", title="News")
    site.service.phase(campaign, "Results", PhaseKind.PUBLISHED, begins=-1)


def test_compare_opens_on_the_best_three_and_its_chart_can_be_saved(site: Site, mary: Page, tmp_path: Path) -> None:
    publish(site)
    check_page(mary, "/campaigns/news/compare")
    assert mary.get_by_text("Systems: 3 of 4").is_visible()
    chart = mary.locator("figure svg.chart")
    assert chart.locator("title").text_content() == "Differences by BLEU, with 95 % intervals"
    for kind, begin in (("SVG", b"<svg"), ("PNG", b"\x89PNG"), ("CSV", b"system,")):
        with mary.expect_download() as started:
            mary.get_by_role("link" if kind == "CSV" else "button", name=f"Save as {kind}").click()
        file = tmp_path / f"chart.{kind}"
        started.value.save_as(file)
        assert file.read_bytes().startswith(begin)
    lines = list(csv.reader(io.StringIO((tmp_path / "chart.CSV").read_text())))
    assert lines[0] == ["system", "compared_with", "difference", "low", "high", "p"]
    assert len(lines) == 4
    assert float(lines[1][2]) > 0, "a minus sign is one that programs read"
    assert 'class="' not in (tmp_path / "chart.SVG").read_text()
    # What is chosen is compared at once.
    mary.get_by_text("Systems: 3 of 4").click()
    mary.get_by_role("checkbox", checked=True).first.uncheck()
    expect(mary.get_by_text("Systems: 2 of 4")).to_be_visible()
    expect(mary.locator("#compared figure tbody tr")).to_have_count(1)
    assert "system=" in mary.url
    mary.get_by_role("link", name=" and ").first.click()
    mary.wait_for_url("**/segments?**")


def test_segments_open_on_two_systems_and_are_walked_by_keys(site: Site, mary: Page) -> None:
    publish(site)
    mary.goto("/campaigns/news/segments")
    assert mary.locator("input[name=system]:checked").count() == 2
    first, second = (mary.locator("article").nth(number) for number in (0, 1))
    for key, focused in (("j", first), ("j", second), ("k", first)):
        mary.keyboard.press(key)
        expect(focused).to_be_focused()
    mary.locator("article").last.focus()
    mary.keyboard.press("j")
    mary.wait_for_url("**first=20**")
    mary.get_by_label("Go to segment").fill("42")
    mary.get_by_role("button", name="Go").click()
    expect(mary.locator("article")).to_have_count(1)
    assert mary.get_by_role("heading", name="Segment 42").is_visible()
    assert mary.locator("input[name=system]:checked").count() == 2, "the systems are kept"
    # Letters typed into a field stay there.
    mary.get_by_label("Containing text").fill("")
    mary.get_by_label("Containing text").press("j")
    assert mary.get_by_label("Containing text").input_value() == "j"
