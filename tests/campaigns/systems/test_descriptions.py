"""Who may say what of a system, and what a table of all systems changes."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.errors import BadRequest, Forbidden, NotFound, NotSignedIn
from campaigns.permissions import read_access
from campaigns.systems.descriptions import FIELDS, ImportedDescriptions, describe_system, import_descriptions
from models.database.session import writing
from models.schema.corpus import System
from models.schema.roles import PhaseKind, Scope, SiteRole, TeamRole
from models.schema.systems import SystemDescription
from steelyard_client.documents.submissions.systems import MAX_PARAMETERS
from tests.service.scored_campaigns import Scored
from tests.service.service import Service


@pytest.fixture
def scored(service: Service) -> Scored:
    """Systems 1 to 4: of the organisers, of two teams, and one more that has the same name as another."""
    found = Scored(service, replicates=0)
    for team, system in (("", "base"), ("gulls", "dive"), ("terns", "soar"), ("terns", "dive")):
        found.add(team, system, 30.0)
    teams = [service.team(team, service.account(team)) for team in ("gulls", "terns")]
    service.campaign("port", teams=tuple(teams))
    service.phase(found.campaign_id, "results", PhaseKind.PUBLISHED)
    return found


def member(*teams: str, scopes: frozenset[Scope] = EVERY_SCOPE) -> Principal:
    return Principal(1, role=SiteRole.PARTICIPANT, scopes=scopes, teams=dict.fromkeys(teams, TeamRole.MEMBER))


def describe(scored: Scored, principal: Principal, system: int, **said: Any) -> None:
    with writing(scored.service.engine) as connection:
        describe_system(connection, read_access(connection, principal, "port"), system, said)


def described(scored: Scored) -> dict[int, dict[str, Any]]:
    """What is stored of each system, as far as it is no default."""
    with writing(scored.service.engine) as connection:
        rows = connection.execute(select(SystemDescription)).all()
        blank = {"", None, "unknown", "team"}
        return {
            row.system_id: {name: value for name in FIELDS if (value := getattr(row, name)) not in blank}
            for row in rows
        }


def take(scored: Scored, table: str, principal: Principal = COMMAND_LINE, **options: Any) -> ImportedDescriptions:
    with writing(scored.service.engine) as connection:
        return import_descriptions(connection, read_access(connection, principal, "port"), table, **options)


def test_only_members_and_organisers_describe_a_system(scored: Scored) -> None:
    for principal, system, refused in (
        (member("gulls"), 3, Forbidden),
        (member("gulls"), 1, Forbidden),
        (member(), 2, Forbidden),
        (NOBODY, 2, NotSignedIn),
        (member("gulls", scopes=frozenset({Scope.READ})), 2, Forbidden),
        (member("gulls"), 99, NotFound),
    ):
        with pytest.raises(refused):
            describe(scored, principal, system, description="mine")
    with pytest.raises(Forbidden, match="Only organisers"):
        describe(scored, member("gulls"), 2, origin="baseline", description="mine")
    assert described(scored) == {}
    describe(scored, member("gulls"), 2, description="mine")
    describe(scored, member("gulls", "terns"), 3, url="https://example.org/soar")
    describe(scored, COMMAND_LINE, 1, origin="baseline")
    assert described(scored) == {
        1: {"origin": "baseline"},
        2: {"description": "mine"},
        3: {"url": "https://example.org/soar"},
    }


def test_what_is_not_said_stays(scored: Scored) -> None:
    describe(scored, member("gulls"), 2, description="one", constrained=False, parameters=5)
    describe(scored, member("gulls"), 2, affiliation="The Sea")
    describe(scored, member("gulls"), 2, description="two")
    known = {"description": "two", "affiliation": "The Sea", "constrained": False, "parameters": 5}
    assert described(scored) == {2: known}
    for wrong in (
        {"parameters": 0},
        {"parameters": -1},
        {"parameters": MAX_PARAMETERS + 1},
        {"url": "javascript:alert(1)"},
    ):
        with pytest.raises(BadRequest):
            describe(scored, member("gulls"), 2, **wrong)
    assert described(scored) == {2: known}


def test_cells_that_are_empty_change_nothing(scored: Scored) -> None:
    describe(scored, COMMAND_LINE, 1, description="a baseline", paper_url="https://example.org/a", origin="baseline")
    header = "system\tdescription\tpaper\tparameters\tweights\torigin\ttrack\n"
    taken = take(scored, header + "base\t\t\t1.3B\t\t\t\nsoar\tflies\t\t\topen\t\tunconstrained\n")
    assert (taken.matched, taken.unknown, taken.missing) == (["base", "soar"], [], ["dive", "dive"])
    assert described(scored) == {
        1: {
            "description": "a baseline", "paper_url": "https://example.org/a", "origin": "baseline",
            "parameters": 1_300_000_000,
        },
        3: {"description": "flies", "weights": "open", "constrained": False},
    }  # fmt: skip


def test_a_preview_stores_nothing_and_only_organisers_import(scored: Scored) -> None:
    table = "system\tdescription\nbase\tone\nnobody's\ttwo\n"
    previewed = take(scored, table, preview=True)
    assert described(scored) == {}
    for principal in (member("gulls"), NOBODY):
        with pytest.raises((Forbidden, NotSignedIn)):
            take(scored, table, principal)
    assert take(scored, table) == previewed == ImportedDescriptions(["base"], ["nobody's"], ["dive", "dive", "soar"])
    assert described(scored) == {1: {"description": "one"}}


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (
            "system\tdescription\nbase\tone\ttwo\n",
            "Line 2 has 3 columns, and the header 2.",
        ),
        ("system\tdescription\n\nbase\n", "Line 3 has 1 columns, and the header 2."),
        ('system\tdescription\nbase\t"one\n', "The table cannot be read: unexpected end of data."),
        (
            "system\tcolour\nbase\tred\n",
            "It has the column 'colour'. A table of systems has the column system, and any of: ",
        ),
        ("name\n", "It has the column 'name'. A table of systems has the column system, and any of: "),
        ("", "Its header is []. A table of systems has the column system, and any of: "),
        ("system\tSystem\n", "Its header is ['system', 'system']. A table of systems has the column system, and any"),
    ],
)
def test_a_table_that_is_none_stores_nothing(scored: Scored, table: str, says: str) -> None:
    with pytest.raises(BadRequest) as refused:
        take(scored, table)
    assert str(refused.value).startswith(says)
    assert described(scored) == {}


def test_cells_that_are_wrong_are_named_by_line_and_nothing_is_stored(scored: Scored) -> None:
    header = "system\ttrack\tparameters\tweights\torigin\turl\tteam\n"
    rows = [
        "base\tsecret\t\t\t\t\t",
        "",
        "dive\t\tmany\t\t\t\tgulls",
        "soar\t\t\tleaked\t\t\tterns",
        "dive\t\t\t\tbought\t\tterns",
    ]
    with pytest.raises(BadRequest, match=r"^The table cannot be read, and nothing is stored\.$") as refused:
        take(scored, header + "\n".join(rows))
    assert list(refused.value.details) == [
        "Line 2, base: 'secret' is no track: constrained or unconstrained.",
        "Line 4, dive: 'many' is no number of parameters. Write it as 7B, 350M or 7000000000.",
        "Line 5, soar: 'leaked' is not among open, closed.",
        "Line 6, dive: 'bought' is not among team, baseline, online.",
    ]
    assert described(scored) == {}


def test_lines_that_are_empty_are_passed_over(scored: Scored) -> None:
    taken = take(scored, "\ufeffSystem \tDescription\n\nbase\tone\n\t\n\nsoar\t two \n")
    assert taken.matched == ["base", "soar"]
    assert described(scored) == {1: {"description": "one"}, 3: {"description": "two"}}


def test_a_name_of_two_teams_needs_the_team(scored: Scored) -> None:
    with pytest.raises(BadRequest) as refused:
        take(scored, "system\tdescription\nsoar\tone\ndive\ttwo\nsoar\tthree\n\tfour\n")
    assert list(refused.value.details) == [
        "Line 3: dive is a system of gulls, terns. Add a column `team`.",
        "Line 4: soar is there twice.",
        "Line 5 names no system.",
    ]
    assert described(scored) == {}
    take(scored, "system\tteam\tdescription\ndive\tterns\tone\nbase\t\ttwo\ndive\tgulls\tthree\n")
    assert {key: each["description"] for key, each in described(scored).items()} == {2: "three", 4: "one", 1: "two"}
    # An empty cell of that column means the organisers' own.
    with pytest.raises(NotFound, match="no system of the campaign"):
        take(scored, "system\tteam\tdescription\nsoar\t\tone\n")
    with writing(scored.service.engine) as connection:
        names = connection.execute(select(System.team, System.name).order_by(System.id)).all()
    assert [tuple(each) for each in names] == [("", "base"), ("gulls", "dive"), ("terns", "soar"), ("terns", "dive")]
