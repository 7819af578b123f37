"""How many statements a page takes: as many with sixty campaigns as with three."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, event, func, select

from models.database.session import reading, writing
from models.schema.campaigns import Campaign
from models.schema.roles import PhaseKind, SiteRole, Visibility
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from tests.analysis.nightly_runs import add_nightly_run, add_schedule
from tests.scheduler.jobs import one_block_shards
from tests.service.service import DAY, Service

FEW, MANY = 3, 60
LISTS = "/api/v1/campaigns"
PAGES = ("/", LISTS, f"{LISTS}?limit=2", "/queue", "/nightly", "/api/v1/nightly")


@pytest.fixture
def service(database_url: str) -> Iterator[Service]:
    with ExitStack() as stack:
        yield Service.start(database_url, stack)


class Shore:
    """Campaigns with all that belongs to one: people, phases, a test set, open evaluations, a schedule with runs."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.people = {
            "root": service.account("root", SiteRole.ADMINISTRATOR),
            "olga": service.account("olga", SiteRole.ORGANISER),
            "other": service.account("other", SiteRole.ORGANISER),
            "mary": service.account("mary"),
        }
        self.team = service.team("harbour", self.people["mary"])
        self.browsers = {name: service.browser(account) for name, account in self.people.items()}
        self.browsers["nobody"] = service.client()
        self.count = 0

    def grow(self, count: int) -> None:
        """So many campaigns in all: every third is private."""
        engine = self.service.engine
        settings = one_block_shards(self.service.settings.database_url)
        for number in range(self.count, count):
            ingest_campaign(
                engine,
                settings,
                campaign=f"c{number}",
                test_set=NewTestSet("port", {"A": b"one two\nthree"}, target_language="cs"),
                submissions=[NewSubmission("tug", b"one two\nthree")],
                protocols=[NewProtocol(["A"], [parse_metric("bleu")], 0)],
            )
            campaign = self.service.campaign(
                f"c{number}",
                organisers=(self.people["olga"],),
                teams=(self.team,),
                visibility=Visibility.PUBLIC if number % 3 else Visibility.PRIVATE,
            )
            self.service.phase(campaign, "dev", PhaseKind.OPEN, begins=-DAY)
            schedule = add_schedule(engine, campaign, name=f"gate {number}")
            for nightly_run in range(2):
                add_nightly_run(engine, schedule, nightly_run, {})
        self.count = count

    def statements(self, name: str, page: str) -> tuple[int, int]:
        """The status of the answer, and how many statements it took."""
        with counted(self.service.app.state.steelyard.engine) as made:
            status = self.browsers[name].get(page).status_code
        return status, len(made)


@contextmanager
def counted(engine: Engine) -> Iterator[list[str]]:
    """The statements that an engine sends meanwhile."""
    made: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        # SQLite's transactions begin by a statement, those of PostgreSQL by themselves.
        if not statement.startswith("BEGIN"):
            made.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield made
    finally:
        event.remove(engine, "before_cursor_execute", note)


def test_more_campaigns_take_no_more_statements(service: Service) -> None:
    shore = Shore(service)
    looks = [(name, page) for name in shore.browsers for page in PAGES]
    shore.grow(FEW)
    # The first look notes that a session is used.
    for _ in range(2):
        few = {look: shore.statements(*look) for look in looks}
    shore.grow(MANY)
    many = {look: shore.statements(*look) for look in looks}
    assert many == few
    assert all(few["root", page][0] == 200 for page in PAGES)
    assert {page: few["nobody", page] for page in ("/", LISTS)} == {"/": (200, 8), LISTS: (200, 4)}


def names(answer: Any) -> list[str]:
    return [each["name"] for each in answer.json()["items"]]


def test_who_knows_of_a_campaign_sees_it_in_every_list(service: Service) -> None:
    shore = Shore(service)
    shore.grow(7)
    everything = [f"c{number}" for number in reversed(range(7))]
    public = [name for name in everything if name not in ("c0", "c3", "c6")]
    expected = {"root": everything, "olga": everything, "mary": everything, "other": public, "nobody": public}
    for name, seen in expected.items():
        assert names(shore.browsers[name].get(LISTS)) == seen, name
        page = shore.browsers[name].get("/").text
        assert [each for each in everything if f'"/campaigns/{each}"' in page] == seen, name
    gates = shore.browsers["other"].get("/api/v1/nightly").json()["items"]
    assert {each["name"]: each["runs"] for each in gates} == {f"gate {name[1:]}": 2 for name in public}
    assert {each["last_date"] for each in gates} == {"2027-03-02"}


def test_a_page_of_campaigns_reads_no_more_than_it_shows_and_stands_still_while_campaigns_are_made(
    service: Service,
) -> None:
    shore = Shore(service)
    shore.grow(7)
    other = shore.browsers["other"]
    first = other.get(f"{LISTS}?limit=2")
    assert names(first) == ["c5", "c4"]
    # What is new stands before all that was shown, and what has gone was there.
    shore.grow(9)
    with writing(service.engine) as connection:
        connection.execute(Campaign.__table__.update().where(Campaign.name == "c4").values(visibility="private"))
    second = other.get(f"{LISTS}?limit=2&after={first.json()['next']}")
    assert names(second) == ["c2", "c1"]
    assert second.json()["next"] is None
    assert other.get(f"{LISTS}?after=x").status_code == 422
    with counted(service.app.state.steelyard.engine) as made:
        other.get(f"{LISTS}?limit=2")
    assert any("LIMIT" in statement for statement in made if "FROM campaign" in statement)
    with reading(service.engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Campaign)) == 9
