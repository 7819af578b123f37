"""A team submits an output by the page, follows it, sees its scores, declares and withdraws it."""

import re
import tempfile
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from campaigns.quotas.quotas import set_quotas
from campaigns.quotas.rules import QuotaScope
from campaigns.submissions.reading import read_uploaded_output
from models.database.session import writing
from models.schema.states import QuotaKind
from tests.service.port import ADDRESS, Port, output
from tests.web.browser.looks import check_page
from tests.web.browser.site import PATIENCE_MILLISECONDS, Site

CAMPAIGN = "/campaigns/port%201"


def test_a_team_submits_follows_declares_and_withdraws(site: Site, tmp_path: Path) -> None:
    port = Port.opened(site.service, ends=86400.0)
    with writing(site.service.engine) as connection:
        set_quotas(connection, QuotaScope(port.campaign, "", ""), {QuotaKind.PER_DAY: 3})
    page = site.page(port.accounts["mary"])
    check_page(page, f"{CAMPAIGN}/submit")
    file = tmp_path / "mast.txt"

    lines = output().split(b"\n")
    file.write_bytes(b"\n".join(lines[:-5]) + b"\n")
    page.get_by_label("Output").set_input_files(file)
    page.get_by_label("System").fill("mast")
    page.get_by_label("Primary").check()
    page.get_by_role("button", name="Submit").click()
    # A script sends the form, so that the file stays chosen; what is refused is a status of its answer.
    site.allowed.append("/submit")
    refused = page.get_by_role("alert").first
    expect(refused).to_contain_text("has 296 lines, but the test set has 300 segments", timeout=PATIENCE_MILLISECONDS)
    # What was filled in is still there.
    expect(page.get_by_label("System")).to_have_value("mast")
    expect(page.get_by_label("Primary")).to_be_checked()
    check_page(page)

    file.write_bytes(b"\n".join([b""] * 7 + lines[7:]))
    page.get_by_label("Output").set_input_files(file)
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/submissions/2")
    expect(page.get_by_role("status").first).to_contain_text("queued")
    check_page(page)
    site.work()
    # The page follows by itself.
    expect(page.get_by_role("status").first).to_contain_text("done")
    page.get_by_text("Signatures, to repeat").click()
    expect(page.locator("code.signature").first).to_contain_text("nrefs:1")
    expect(page.get_by_text("primary", exact=True).first).to_be_visible()
    check_page(page)

    page.get_by_label("Contrastive").check()
    page.get_by_label("Description").fill("smaller")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").first).to_contain_text("saved")
    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_role("status").first).to_contain_text("no longer ranked")
    check_page(page, f"{CAMPAIGN}/submissions")
    expect(page.get_by_role("row", name="mast").first).to_contain_text("withdrawn")


def reads_once_it_may(path: Path, folder: Path, name: str, *more: Any) -> Any:
    """As `read_uploaded_output`, as soon as there is a file of that name beside those of all programs."""
    while not Path(tempfile.gettempdir(), name).exists():
        time.sleep(0.01)
    return read_uploaded_output(path, folder, name, *more)


def test_who_waits_learns_how_many_are_before(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.uploads.submit.read_uploaded_output", reads_once_it_may)
    port = Port.opened(site.service)
    mary, gate = port.program("mary"), Path(tempfile.gettempdir(), f"steelyard-gate-{uuid.uuid4().hex}")
    site.stack.callback(gate.unlink, missing_ok=True)
    answers: list[int] = []

    def send() -> None:
        files = {"file": (gate.name, output())}
        answers.append(mary.post(f"{ADDRESS}/checks", data={"system": "mast"}, files=files).status_code)

    sending = [threading.Thread(target=send) for _ in range(3)]
    for each in sending:
        each.start()
    page = site.page(port.accounts["mary"])
    page.goto(f"{CAMPAIGN}/submit")
    # As when the form is sent; while a page is being left, Playwright sees nothing of it.
    page.evaluate("document.querySelector('form[enctype]').dispatchEvent(new Event('submit'))")
    expect(page.get_by_text("1 file ahead of yours.")).to_be_visible(timeout=PATIENCE_MILLISECONDS)
    gate.touch()
    for each in sending:
        each.join()
    assert answers == [200, 200, 200]
    expect(page.get_by_text("Uploading or processing the file.")).to_be_visible(timeout=PATIENCE_MILLISECONDS)


def test_everything_works_without_a_script(site: Site, tmp_path: Path) -> None:
    port = Port.opened(site.service)
    page = site.page(port.accounts["mary"], java_script_enabled=False)
    file = tmp_path / "mast.txt"
    file.write_bytes(output())
    page.goto(f"{CAMPAIGN}/submit")
    page.get_by_label("Output").set_input_files(file)
    page.get_by_label("System").fill("mast")
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/submissions/2")
    site.work()
    page.get_by_role("link", name="Refresh").click()
    expect(page.get_by_role("status").first).to_contain_text("done")


def test_several_files_are_dropped_counted_and_kept_when_all_are_refused(site: Site, tmp_path: Path) -> None:
    port = Port.opened(site.service)
    page = site.page(port.accounts["mary"], viewport={"width": 390, "height": 844})
    page.goto(f"{CAMPAIGN}/submit")
    short = {name: output(seed, segments=9).decode() for seed, name in enumerate(("mast.txt", "keel.txt"))}
    dropped = page.evaluate_handle(
        """files => {
            const data = new DataTransfer();
            for (const [name, text] of Object.entries(files)) data.items.add(new File([text], name));
            return data;
        }""",
        short,
    )
    page.dispatch_event(".drop", "drop", {"dataTransfer": dropped})
    told = page.locator(".counted")
    expect(told).to_contain_text("mast.txt: 9 lines")
    expect(told).to_contain_text("keel.txt: 9 lines")
    expect(page.get_by_label("System")).to_be_disabled()
    check_page(page)
    site.allowed.append("/submit")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert").first).to_contain_text("keel.txt", timeout=PATIENCE_MILLISECONDS)
    kept = "document.querySelector('#file').files.length"
    assert page.evaluate(kept) == 2, "both files are still chosen"
    expect(page.get_by_label("System")).to_be_disabled()
    files = []
    for seed, name in enumerate(short):
        files.append(tmp_path / name)
        files[-1].write_bytes(output(seed, segments=9) if seed else output(seed))
    page.get_by_label("Output").set_input_files(files)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("1 of 2 outputs were stored.")).to_be_visible(timeout=PATIENCE_MILLISECONDS)
    chosen = "[...document.querySelector('#file').files].map(file => file.name)"
    assert page.evaluate(chosen) == ["keel.txt"], "only the refused file is still chosen"
    expect(page.get_by_label("System")).to_have_value("keel")
    check_page(page)
    # No browser sends what was corrected since it was chosen.
    files[1].write_bytes(output(1))
    page.get_by_role("button", name="Submit").click()
    expect(told).to_contain_text("keel.txt was changed since you chose it.")
    page.get_by_label("Output").set_input_files(files[1])
    expect(told).to_contain_text("keel.txt: 300 lines")
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/submissions/*")


def test_several_files_without_a_script(site: Site, tmp_path: Path) -> None:
    port = Port.opened(site.service)
    page = site.page(port.accounts["mary"], java_script_enabled=False)
    files = [tmp_path / "mast.txt", tmp_path / "keel.txt"]
    files[0].write_bytes(output(1))
    files[1].write_bytes(output(2, segments=9))
    page.goto(f"{CAMPAIGN}/submit")
    page.get_by_label("Output").set_input_files(files)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("1 of 2 outputs were stored.")).to_be_visible(timeout=PATIENCE_MILLISECONDS)
    expect(page.get_by_role("main")).to_contain_text("keel.txt")


def test_a_team_accepts_the_terms_before_it_submits(site: Site) -> None:
    port = Port.opened(site.service, ends=86400.0)
    organiser = site.page(port.accounts["ann"])
    organiser.goto(f"{CAMPAIGN}/manage/terms")
    organiser.get_by_label(re.compile("Terms")).fill("# Terms\n\nBe *kind*.")
    organiser.get_by_role("button", name="Save").click()
    organiser.get_by_text("Terms saved.").wait_for()
    page = site.page(port.accounts["mary"])
    page.goto(f"{CAMPAIGN}/submit")
    page.get_by_role("main").get_by_role("link", name=re.compile("terms", re.IGNORECASE)).first.click()
    expect(page.locator("em")).to_have_text("kind")
    page.get_by_role("button", name="Accept for harbour").click()
    expect(page).to_have_url(re.compile("/submit$"))
    expect(page.get_by_text("has not accepted")).to_have_count(0)
