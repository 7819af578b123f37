"""Pictures of pages for the README and the docs: `python -m tests.web.browser.pictures FOLDER`.

They show the demo campaign as a shared task whose results are out, and another one that is under way.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from sqlalchemy import select, update

from campaigns.test_sets.files import InputTestSet, NamedContent
from models.database.migrate import upgrade
from models.database.session import writing
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignTestSet
from models.schema.roles import DeclaredKind, Feedback, PhaseKind, SiteRole
from tests.service.campaigns import submit_output, with_test_set
from tests.service.service import DAY, Service
from tests.web.browser.conftest import CHROMIUM, FLAGS
from tests.web.browser.site import Site

DEMO = Path(__file__).parents[3] / "demo" / "harbour"
SYSTEMS = {"anchor": "gulls", "buoy": "gulls", "cable": "terns", "dinghy": "petrels", "ebb": "petrels"}
PRIMARY = ("anchor", "cable", "dinghy")
HUMAN = "system\tscore\nanchor\t0.61\nbuoy\t0.32\ncable\t0.18\ndinghy\t0.15\nebb\t-1.24\n"
WIDE = 1200
OVER, RUNNING = "harbour-2026", "harbour-2027"


def build(service: Service) -> dict[str, int]:
    """Fill an empty database; accounts by name."""
    accounts = {
        "Mary Fisher": service.account("Mary Fisher", SiteRole.ORGANISER),
        **{name: service.account(name) for name in ("zoe", "ann", "bob")},
    }
    members = {"gulls": accounts["zoe"], "terns": accounts["ann"], "petrels": accounts["bob"]}
    teams = tuple(service.team(team, member) for team, member in members.items())
    for year in (2026, 2027):
        campaign = service.campaign(
            f"harbour-{year}",
            organisers=(accounts["Mary Fisher"],),
            teams=teams,
            title=f"Harbour News {year}",
            description="News from a harbour town, Czech into English: 120 segments in four domains, two references.",
            time_zone="Europe/Prague",
            anonymous=True,
        )
        late = -400 if year == 2026 else 0
        for name, kind, begins, ends in (
            ("dry run", PhaseKind.OPEN, -30, -10),
            ("test week", PhaseKind.BLIND, -3, 4),
            ("closed", PhaseKind.CLOSED, 5, None),
            ("results", PhaseKind.PUBLISHED, 12, None),
        ):
            when = {"begins": (begins + late) * DAY, "ends": None if ends is None else (ends + late) * DAY}
            service.phase(campaign, name, kind, feedback=Feedback.ROUNDED, **when)
        _submit_all(service, f"harbour-{year}")
    return accounts


def _submit_all(service: Service, campaign: str) -> None:
    references = [NamedContent(f"{label}.txt", (DEMO / "refs" / f"{label}.txt").read_bytes()) for label in "AB"]
    source = NamedContent("source.txt", (DEMO / "source.txt").read_bytes())
    documents = NamedContent("docs.tsv", (DEMO / "docs.tsv").read_bytes())
    texts = InputTestSet(references, source, documents, source_language="cs", target_language="en")
    metrics = ("bleu", "chrf", "ter")
    test_set = with_test_set(service.engine, campaign, texts, name="harbour news", metrics=metrics, replicates=1000)
    for system, team in SYSTEMS.items():
        kind = DeclaredKind.PRIMARY if system in PRIMARY else DeclaredKind.CONTRASTIVE
        output = (DEMO / "systems" / f"{system}.txt").read_bytes()
        submit_output(service.engine, campaign, team, system, output, declared=kind)
    if campaign == OVER:
        mine = CampaignTestSet.campaign_id.in_(select(Campaign.id).where(Campaign.name == campaign))
        with writing(service.engine) as connection:
            released = update(CampaignTestSet).where(mine, CampaignTestSet.test_set_id == test_set)
            connection.execute(released.values(references_released_at=now()))


def take(page: Page, path: str, file: Path, height: int, until: str = "main") -> None:
    """A picture of the top of a page, in few colours."""
    page.goto(path)
    page.locator(until).first.wait_for()
    page.screenshot(path=file, clip={"x": 0, "y": 0, "width": WIDE, "height": height}, full_page=True)
    with Image.open(file) as picture:
        few = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    few.save(file, optimize=True)


def main(folder: Path) -> None:
    """Make all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright, ExitStack() as stack:
        url = f"sqlite:///{place}/pictures.db"
        upgrade(url)
        site = Site.start(url, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS), stack)
        accounts = build(site.service)
        site.work()
        sharp = {"viewport": {"width": WIDE, "height": 900}, "device_scale_factor": 1.375}
        organiser = site.page(accounts["Mary Fisher"], **sharp)
        organiser.goto(f"/campaigns/{OVER}/metrics")
        table = {"name": "human.tsv", "mimeType": "text/plain", "buffer": HUMAN.encode()}
        organiser.get_by_label("Tables").set_input_files(table)  # type: ignore[arg-type]
        organiser.get_by_role("button", name="Add to").click()
        everybody = site.page(**sharp)
        take(everybody, f"/campaigns/{OVER}/leaderboard", folder / "leaderboard.png", 660)
        take(everybody, f"/campaigns/{OVER}/compare", folder / "compare.png", 900)
        take(everybody, f"/campaigns/{OVER}/segments?order=difference", folder / "segments.png", 900)
        take(everybody, f"/campaigns/{OVER}/metrics", folder / "metrics.png", 900, "svg.chart")
        team = site.page(accounts["zoe"], color_scheme="dark", **sharp)
        take(team, f"/campaigns/{RUNNING}", folder / "campaign.png", 760)
        team.goto(f"/campaigns/{RUNNING}/submissions")
        first = team.locator("main a[href^='/submissions/']").first.get_attribute("href")
        take(team, str(first), folder / "submission.png", 760)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
