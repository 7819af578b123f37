"""Human judgments taken in with their systems called as their submissions are."""

import pytest
from sqlalchemy import Connection, insert, select

from models.corpus.judgments import list_judgments, read_systems
from models.database.session import make_engine, writing
from models.schema.accounts import Team
from models.schema.human import HumanSystemScore
from scheduler.ingest.campaigns import NewSubmission, store_campaign, store_submissions
from scheduler.ingest.judgments import IngestedJudgments, NothingMatched, store_matched_judgments
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from steelyard.meta_evaluation.human.reading import Reading, read_judgments

SUBMITTED = {
    "bay": ("gulls/dive", "terns/dive", "terns/soar"),
    "cove": ("gulls/dive", "/plain"),
    "dock": ("auks/soar",),
}


def take_in(connection: Connection, test_set: int, *systems: str, campaign: int) -> IngestedJudgments:
    table = "".join(f"{system}\t{number}\n" for number, system in enumerate(systems))
    judged = read_judgments([f"system\tscore\n{table}".encode()], Reading(1))
    return store_matched_judgments(connection, campaign, test_set, "da", judged)


@pytest.fixture
def world(database_url: str):
    """A connection, a test set of three campaigns, and these."""
    with writing(make_engine(database_url)) as connection:
        connection.execute(
            insert(Team).values(name="auks", folded_name="auks", publication_name="Great Auk University")
        )
        campaigns = {}
        for name, systems in SUBMITTED.items():
            campaigns[name] = store_campaign(connection, name)
            test_set = store_test_set(connection, campaigns[name], NewTestSet("bay", {"A": b"x"}))
            for each in systems:
                team, system = each.split("/")
                store_submissions(connection, campaigns[name], test_set, [NewSubmission(system, b"x", team)])
        yield connection, test_set, campaigns


@pytest.mark.parametrize(
    ("campaign", "judged", "stored"),
    [
        # Two teams of one campaign have a system "dive", so leaderboards name it with its team.
        ("bay", ("TERNS-dive", "Soar"), ("terns/dive", "soar")),
        ("bay", ("dive", "terns-soar"), ("dive", "soar")),
        ("cove", ("gulls", "Plain"), ("dive", "plain")),
        ("dock", ("Great Auk University/Soar",), ("soar",)),
        ("dock", ("gulls_dive", "auks"), ("gulls_dive", "soar")),
    ],
)
def test_names_are_those_of_leaderboards(world, campaign, judged, stored) -> None:
    connection, test_set, campaigns = world
    taken = take_in(connection, test_set, *judged, campaign=campaigns[campaign])
    rows = read_systems(connection, taken.stored.id)
    assert [row.system for row in sorted(rows, key=lambda row: row.score)] == list(stored)


def test_what_matches_nothing_is_not_stored(world) -> None:
    connection, test_set, campaigns = world
    for systems, campaign in ((("heron", "HUMAN-A"), "dock"), (("plain",), "bay"), (("auks/soar!", "x"), "cove")):
        with pytest.raises(NothingMatched, match=r"Judged: .*Submitted: "):
            take_in(connection, test_set, *systems, campaign=campaigns[campaign])
    assert [list_judgments(connection, campaign, test_set) for campaign in campaigns.values()] == [[], [], []]
    assert connection.scalar(select(HumanSystemScore.system)) is None


def test_names_stay_as_they_are_where_nobody_has_submitted_yet(world) -> None:
    connection, test_set, _ = world
    empty = store_campaign(connection, "empty")
    taken = take_in(connection, test_set, "heron", "auks/soar", campaign=empty)
    assert sorted(row.system for row in read_systems(connection, taken.stored.id)) == ["auks/soar", "heron"]


def test_another_campaign_s_systems_are_not_named(world) -> None:
    connection, test_set, campaigns = world
    with pytest.raises(NothingMatched) as refused:
        take_in(connection, test_set, "heron", campaign=campaigns["dock"])
    assert "Submitted: soar." in str(refused.value)
    assert "plain" not in str(refused.value)
