"""How many forms and seconds the jobs of organisers and teams take: `python -m tests.web.browser.jobs`.

The demo campaign's files, a fresh SQLite database, one browser; what people need to read and to type comes on top. Of
commands, each is a process of its own, whose start counts.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Page, sync_playwright

from models.database.migrate import upgrade
from models.schema.roles import SiteRole
from tests.web.browser.conftest import CHROMIUM, FLAGS
from tests.web.browser.site import Site

PATIENCE_MILLISECONDS = 600_000.0
"""On a machine with much else to do, one upload takes minutes."""
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


def first_score(site: Site, page: Page, link: str) -> None:
    """From the invitation to scores: the form of the invitation, and that of the output."""
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


def several_systems(site: Site, page: Page) -> None:
    """Four outputs in one form, named after their files, until all have scores."""
    page.goto("/campaigns/wmt27/submit")
    page.locator("#file").set_input_files(
        [DEMO / "systems" / f"{each}.txt" for each in ("buoy", "cable", "dinghy", "ebb")]
    )
    page.get_by_role("button", name="Submit", exact=True).click()
    page.get_by_role("heading", name="Stored").wait_for()
    site.work()


def refusal(page: Page, place: Path) -> None:
    """An output without its last line: refused, with the file kept."""
    file = place / "short.txt"
    file.write_bytes(b"\n".join((DEMO / "systems" / "anchor.txt").read_bytes().split(b"\n")[:-2]) + b"\n")
    page.goto("/campaigns/wmt27/submit")
    page.locator("#file").set_input_files(file)
    page.locator("#system").fill("short")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.get_by_role("alert").first.wait_for()


def odd_files(page: Page, place: Path) -> None:
    """Seven files that people send by mistake or from other systems: four are refused, three are taken."""
    whole = (DEMO / "systems" / "buoy.txt").read_bytes()
    odd = {
        "empty": b"",
        "blank": b"\n" * whole.count(b"\n"),
        "latin-1": whole.replace(b"harbour", "hârbour".encode("latin-1")),
        "text.pdf": b"%PDF-1.7\n" + bytes(range(256)) * 9,
    }
    taken = {
        "crlf": b"\xef\xbb\xbf" + whole.replace(b"\n", b"\r\n"),
        "packed.gz": gzip.compress(whole.replace(b".\n", b"!\n", 1)),
        "source": (DEMO / "source.txt").read_bytes(),
    }
    for name, content in {**odd, **taken}.items():
        file = place / name
        file.write_bytes(content)
        page.goto("/campaigns/wmt27/submit")
        page.locator("#file").set_input_files(file)
        page.locator("#system").fill(file.stem)
        page.get_by_role("button", name="Submit", exact=True).click()
        if name in odd:
            page.get_by_role("alert").first.wait_for()
        else:
            page.wait_for_url("**/submissions/*")


def withdrawal(page: Page) -> None:
    """Withdraw a submission, and undo that."""
    page.goto("/submissions/1")
    page.get_by_role("button", name="Withdraw").click()
    page.get_by_role("button", name="Undo withdrawal").click()
    page.get_by_role("button", name="Withdraw").wait_for()


def look(page: Page, path: str, until: str) -> None:
    """One page, until what it is for is there."""
    page.goto(f"/campaigns/{path}")
    page.locator(until).first.wait_for()


def quota(page: Page) -> None:
    """Twenty submissions a day for every team."""
    page.goto("/campaigns/wmt27/manage/teams")
    page.locator("#quota_amount").fill("20")
    page.get_by_role("button", name="Set limit").click()
    page.wait_for_url("**done=**")


def judgments(page: Page, place: Path) -> None:
    """Human scores of five systems."""
    table = place / "human.tsv"
    table.write_text("system\tscore\nanchor\t0.6\nbuoy\t0.3\ncable\t0.2\ndinghy\t0.1\nebb\t-1.2\n")
    page.goto("/campaigns/wmt27/metrics")
    page.get_by_label("Tables").set_input_files(table)
    page.get_by_role("button", name="Add to").click()
    page.wait_for_url("**done=stored**")


def correction(site: Site, page: Page, place: Path) -> None:
    """A corrected reference, until every system has its new scores."""
    page.goto("/campaigns/wmt27/manage/test-sets")
    page.get_by_role("link", name="Edit").first.click()
    file = place / "A.txt"
    file.write_bytes((DEMO / "refs" / "A.txt").read_bytes().replace(b"harbour", b"port", 3))
    page.locator("#references").set_input_files(file)
    page.locator("#reason").fill("Three words were wrong.")
    page.get_by_role("button", name="Replace references and rescore").click()
    page.wait_for_url(re.compile("done=|corrections"))
    site.work()


def life_of_a_campaign(page: Page) -> None:
    """Freeze, unfreeze, close the phase, release the references: from the pages of Manage."""
    for button in ("Freeze the campaign", "Unfreeze the campaign"):
        page.goto("/campaigns/wmt27/manage/live")
        page.get_by_role("button", name=button).click()
        page.wait_for_url("**done=**")
    page.goto("/campaigns/wmt27/manage/live")
    page.locator("#sure-close").check()
    page.get_by_role("button", name="Close now").click()
    page.wait_for_url("**done=**")
    page.goto("/campaigns/wmt27/manage/test-sets")
    page.get_by_role("link", name="Edit").first.click()
    page.get_by_role("button", name="Release references").click()
    page.wait_for_url("**done=**")


def publish(page: Page) -> None:
    """Results are out although the test phase is still to come: said, confirmed and done by one form."""
    page.goto("/campaigns/wmt27/manage/results")
    page.get_by_text("Test is deleted").wait_for()
    page.locator("#sure-publish").check()
    page.get_by_role("button", name="Delete that phase and publish").click()
    page.get_by_text("Results published.").wait_for()


def export(page: Page) -> None:
    """The whole campaign as a file."""
    page.goto("/campaigns/wmt27/manage/results")
    with page.expect_download() as download:
        page.get_by_role("link", name="Export everything").click()
    assert download.value.path().stat().st_size > 0


def token(page: Page) -> str:
    """A token for programs."""
    page.goto("/account/tokens")
    page.locator("#name").fill("laptop")
    for box in page.locator("input[name='scopes']").all():
        box.check()
    page.get_by_role("button", name="Create token").click()
    return page.locator("code.secret").inner_text()


def by_api(site: Site, secret: str) -> None:
    """An output, its scores and the leaderboard, by three requests."""
    with httpx.Client(base_url=f"{site.url}/api/v1", headers={"Authorization": f"Bearer {secret}"}) as client:
        output = (DEMO / "systems" / "cable.txt").read_bytes().replace(b".\n", b"!\n", 2)
        fields = {"system": "api", "test_set": "dev"}
        sent = client.post("/campaigns/wmt27/submissions", data=fields, files={"file": ("api.txt", output)})
        sent.raise_for_status()
        site.work()
        for path in (f"submissions/{sent.json()['id']}", "campaigns/wmt27/leaderboard"):
            client.get(f"/{path}", params={"test_set": "dev"}).raise_for_status()


def command(*arguments: str | Path, **environment: str) -> None:
    """A command of its own process."""
    steelyard = Path(sys.executable).with_name("steelyard")
    subprocess.run([steelyard, *arguments], check=True, stdout=subprocess.DEVNULL, env={**os.environ, **environment})


def by_commands(site: Site, secret: str, place: Path) -> None:
    """Submit an output, show the leaderboard and the systems: three commands at the server."""
    server = {"STEELYARD_SERVER": site.url, "STEELYARD_TOKEN": secret}
    file = place / "cli.txt"
    file.write_bytes((DEMO / "systems" / "ebb.txt").read_bytes().replace(b".\n", b"!\n", 2))
    wanted = ("--campaign", "wmt27", "--test-set", "dev", "--system", "cli", "--no-wait")
    command("submit", file, *wanted, **server)
    site.work()
    command("leaderboard", "wmt27", **server)
    command("system", "list", "wmt27", **server)


def nights(url: str, place: Path) -> None:
    """A schedule, its first run at once, and what came of it: three commands at the database."""
    outputs = place / "nights" / "harbour"
    outputs.mkdir(parents=True)
    (outputs / "buoy.txt").write_bytes((DEMO / "systems" / "buoy.txt").read_bytes())
    pattern = f"{place}/nights/{{test_set}}/{{system}}.txt"
    database = ("--database", url)
    command("schedule", "create", "nights", "--cron", "30 2 * * *", "--source", pattern, "--test-set", DEMO, *database)
    command("schedule", "run", "nights", *database)
    command("schedule", "show", "nights", *database)


def demo(page: Page) -> None:
    """The demo campaign, from the first page."""
    page.goto("/")
    page.get_by_role("button", name="demo campaign").click()
    page.wait_for_url("**/campaigns/demo")


def main() -> None:
    """Do all jobs, and print what each took."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright, ExitStack() as stack:
        place = Path(folder)
        url = f"sqlite:///{place}/jobs.db"
        upgrade(url)
        site = Site.start(url, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS), stack)
        olga = site.page(site.service.account("olga", SiteRole.ORGANISER))
        mary = site.page()
        for page in (olga, mary):
            page.set_default_timeout(PATIENCE_MILLISECONDS)

        def timed(what: str, forms: str, job: Callable[[], Any]) -> Any:
            begun = time.monotonic()
            found = job()
            print(f"| {what} | {forms} | {time.monotonic() - begun:.1f} |", flush=True)
            return found

        timed("a campaign with three phases and two test sets", "3", lambda: create_campaign(olga))
        link = timed("three teams invited, with texts to send", "1", lambda: invite(olga))
        told = "a team from its invitation to its first scores: account, team, campaign, output"
        timed(told, "2", lambda: first_score(site, mary, link))
        timed("an output that lacks a line, refused", "1", lambda: refusal(mary, place))
        timed("four systems at once, until all have scores", "1", lambda: several_systems(site, mary))
        timed("seven odd files: four refused, three taken with what was noticed", "7", lambda: odd_files(mary, place))
        site.work()
        timed("withdrawn, and undone", "2", lambda: withdrawal(mary))
        timed("the leaderboard", "0", lambda: look(mary, "wmt27/leaderboard", "#board tbody tr"))
        timed("a quota", "1", lambda: quota(olga))
        timed("human judgments", "1", lambda: judgments(olga, place))
        timed("metrics against people", "0", lambda: look(olga, "wmt27/metrics", "svg.chart"))
        timed("a corrected reference, until all systems are scored again", "1", lambda: correction(site, olga, place))
        secret = timed("a token for programs", "1", lambda: token(mary))
        timed("an output, its scores and the leaderboard by the API", "3 requests", lambda: by_api(site, secret))
        told = "an output, the leaderboard and the systems by commands"
        timed(told, "3 commands", lambda: by_commands(site, secret, place))
        timed("frozen, unfrozen, closed, references released", "4", lambda: life_of_a_campaign(olga))
        timed("published, with the phase deleted that was still to come", "1", lambda: publish(olga))
        timed("everything exported", "1 click", lambda: export(olga))
        timed("a schedule for every night, its first run and its history", "3 commands", lambda: nights(url, place))
        timed("the demo campaign, published and with all systems queued", "1 click", lambda: demo(olga))
        site.work()
        timed("its best three compared", "0", lambda: look(olga, "demo/compare", "figure svg.chart"))
        timed("segments of its best two", "0", lambda: look(olga, "demo/segments", "article.segment"))


if __name__ == "__main__":
    main()
