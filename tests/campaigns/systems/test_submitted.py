"""Which systems of a campaign somebody sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select, update

from campaigns.systems.submitted import describe_submitted
from models.database.session import writing
from models.schema.accounts import Team
from models.schema.corpus import Submission
from models.schema.roles import PhaseKind, SystemOrigin
from models.schema.systems import SystemDescription
from scheduler.ingest.campaigns import NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from tests.service.port import ADDRESS, NAME, Port, output
from tests.service.scored_campaigns import Scored

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

    from tests.service.service import Service


def systems(client: TestClient) -> list[tuple[str, str, int]]:
    answer = client.get(f"{ADDRESS}/systems")
    assert answer.status_code == 200
    return [(each["team"], each["system"], each["submissions"]) for each in answer.json()["items"]]


def test_own_systems_and_those_that_the_leaderboard_names(port_anywhere: Port) -> None:
    port = port_anywhere
    mary, zoe = port.program("mary"), port.program("zoe")
    port.submit(mary)
    port.submit(mary, output(2))
    withdrawn = port.submit(mary, output(3), system="keel").json()["id"]
    mary.post(f"/api/v1/submissions/{withdrawn}/withdraw")
    port.submit(zoe, output(4), system="lamp")
    everything = [("", "anchor", 1), ("harbour", "mast", 2), ("harbour", "keel", 1), ("guests", "lamp", 1)]
    assert systems(port.program("ann")) == systems(mary) == everything
    assert systems(zoe) == [row for row in everything if row[1] != "keel"], "withdrawn, and of others"
    items = mary.get(f"{ADDRESS}/systems").json()["items"]
    assert [each["own"] for each in items] == [False, True, True, False]
    first = mary.get(f"{ADDRESS}/systems?limit=2").json()
    rest = mary.get(f"{ADDRESS}/systems?limit=2&after={first['next']}").json()
    assert first["items"] + rest["items"] == items
    assert rest["next"] is None


def test_without_names_there_are_only_ones_own(port: Port) -> None:
    port.submit(port.program("mary"))
    port.submit(port.program("zoe"), output(4), system="lamp")
    port.service.campaign(NAME, anonymous=True)
    assert systems(port.program("zoe")) == [("guests", "lamp", 1)]
    assert systems(port.service.client()) == []
    assert len(systems(port.program("ann"))) == 3


def test_while_the_leaderboard_is_hidden_there_are_only_ones_own(service: Service) -> None:
    port = Port.opened(service, PhaseKind.BLIND)
    port.submit(port.program("mary"))
    port.submit(port.program("zoe"), output(4), system="lamp")
    assert systems(port.program("mary")) == [("harbour", "mast", 1)]
    assert systems(port.service.client()) == []


def test_each_field_of_a_system(port: Port) -> None:
    mary = port.program("mary")
    for number in (1, 2, 3):
        port.submit(mary, output(number))
    port.submit(port.program("zoe"), output(4), system="lamp")
    # The same system in another campaign.
    other = ingest_campaign(
        port.service.engine,
        port.service.settings,
        campaign="other",
        test_set=NewTestSet("quay", {"A": b"x"}),
        submissions=[NewSubmission("mast", b"x", "harbour")],
        protocols=[],
    )
    with writing(port.service.engine) as connection:
        connection.execute(update(Submission).values(created_at=10.5 * Submission.id))
        connection.execute(update(Submission).where(Submission.id == other.submissions[0]).values(created_at=1.0))
        connection.execute(update(Team).where(Team.name == "guests").values(publication_name="The Guests"))
    items = mary.get(f"{ADDRESS}/systems").json()["items"]
    fields = ("team", "system", "own", "submissions", "first_at", "last_at")
    assert [tuple(each[name] for name in fields) for each in items] == [
        ("", "anchor", False, 1, "1970-01-01T00:00:10.500000Z", "1970-01-01T00:00:10.500000Z"),
        ("harbour", "mast", True, 3, "1970-01-01T00:00:21Z", "1970-01-01T00:00:42Z"),
        ("The Guests", "lamp", False, 1, "1970-01-01T00:00:52.500000Z", "1970-01-01T00:00:52.500000Z"),
    ]


def test_what_is_not_said_at_a_submission_stays(service: Service) -> None:
    scored = Scored(service, replicates=0)
    submission = scored.add("", "base", 30.0)
    told: list[tuple[SystemOrigin, bool | None, str]] = [
        (SystemOrigin.BASELINE, True, "one"),
        (SystemOrigin.BASELINE, None, ""),
        (SystemOrigin.ONLINE, False, ""),
        (SystemOrigin.ONLINE, None, "two"),
        (SystemOrigin.BASELINE, False, ""),
    ]
    seen = []
    for origin, constrained, description in told:
        with writing(service.engine) as connection:
            said = describe_submitted(connection, scored.campaign_id, submission, origin, constrained, description)
            assert said == {
                "origin": origin,
                **({} if constrained is None else {"constrained": constrained}),
                **({"description": description} if description else {}),
            }
            row = connection.execute(select(SystemDescription)).one()
            seen.append((row.origin, row.constrained, row.description))
    assert seen == [
        (SystemOrigin.BASELINE, True, "one"),
        (SystemOrigin.BASELINE, True, "one"),
        (SystemOrigin.ONLINE, False, "one"),
        (SystemOrigin.ONLINE, False, "two"),
        (SystemOrigin.BASELINE, False, "two"),
    ]
