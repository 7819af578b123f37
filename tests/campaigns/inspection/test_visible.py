"""Which test sets and outputs somebody may look at, in which order, and what they are called."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import update

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.declarations import withdraw
from campaigns.errors import NotFound
from campaigns.inspection.visible import (
    VisibleOutput,
    VisibleTestSet,
    choose_outputs,
    find_test_set,
    outputs_by_test_set,
    visible_outputs,
    visible_test_sets,
)
from campaigns.permissions import read_access
from campaigns.test_sets.files import NamedContent
from models.database.session import reading, writing
from models.schema.base import now
from models.schema.campaigns import CampaignTestSet
from models.schema.roles import PhaseKind, TeamRole
from tests.service.campaigns import given, submit_output, with_test_set
from tests.service.service import DAY, Service


@pytest.fixture
def site(service: Service) -> Service:
    """Anonymous ants and bees in a published campaign "wmt", whose test set is 1; "other" has the same teams."""
    teams = service.team("ants", service.account("mary")), service.team("bees", service.account("eve"))
    for name in ("wmt", "other"):
        service.campaign(name, teams=teams)
    with_test_set(service.engine, "wmt", name="news")
    with_test_set(service.engine, "wmt", given(b"x\ny\nz\n"), name="talks")
    with_test_set(service.engine, "other", given(b"u\nv\nw\n"), name="papers")
    made = [
        ("wmt", "bees", "Zeta", "", "news"),
        ("wmt", "ants", "mast", "", "news"),
        ("wmt", "ants", "mast", "1", "news"),
        ("wmt", "ants", "mast", "", "news"),
        ("wmt", "bees", "alpha", "", "news"),
        ("wmt", "ants", "mast", "", "talks"),
        ("other", "ants", "mast", "", "papers"),
    ]
    for number, (campaign_name, team, system, run, test_set) in enumerate(made, start=1):
        lines = b"%d\ny\nz\n" % number
        submit_output(service.engine, campaign_name, team, system, lines, run=run, test_set=test_set)
    service.phase(service.campaign("wmt"), "results", PhaseKind.PUBLISHED)
    return service


def member(team: str) -> Principal:
    return Principal(1, scopes=EVERY_SCOPE, teams={team: TeamRole.MEMBER})


def outputs(site: Service, principal: Principal, test_set: int = 1, campaign: str = "wmt") -> list[VisibleOutput]:
    with reading(site.engine) as connection:
        return visible_outputs(connection, read_access(connection, principal, campaign), test_set)


def test_the_last_output_of_each_system_and_run_by_name(site: Service) -> None:
    found = outputs(site, NOBODY)
    assert [(each.submission, each.name, each.team, each.own) for each in found] == [
        # As on the leaderboard: without a run is what came last of this system, and of its team what is ranked.
        (4, "ants/mast", "ants", False),
        (5, "bees/alpha", "bees", False),
    ]
    assert [each.submission for each in outputs(site, NOBODY, 2)] == [6]
    assert [each.own for each in outputs(site, member("bees"))] == [False, True, True]


def test_until_they_are_published_outputs_are_those_of_ones_own_teams(site: Service) -> None:
    site.phase(site.campaign("wmt"), "again", PhaseKind.BLIND, begins=-1)
    assert [each.submission for each in outputs(site, member("bees"))] == [5, 1]
    assert outputs(site, NOBODY) == []
    assert [each.own for each in outputs(site, COMMAND_LINE)] == [False] * 4


def test_anonymous_systems_that_would_be_called_alike_have_their_numbers(site: Service) -> None:
    site.campaign("other", anonymous=True)
    submit_output(site.engine, "other", "ants", "sail", b"8\ny\nz\n", test_set="papers")
    submit_output(site.engine, "other", "bees", "hull", b"9\ny\nz\n", test_set="papers")
    found = outputs(site, NOBODY, 3, "other")
    assert [each.name for each in found] == ["Team 1 (7)", "Team 1 (8)", "Team 2"]
    assert [each.name for each in outputs(site, member("ants"), 3, "other")] == ["ants/mast", "ants/sail", "Team 2"]


def test_outputs_are_chosen_by_name_or_number_in_the_order_of_the_question(site: Service) -> None:
    found = outputs(site, NOBODY)
    assert [each.submission for each in choose_outputs(found, ["bees/alpha", "4", "ants/mast"])] == [5, 4]
    assert choose_outputs(found, []) == []
    for wanted in ("2", "mast", "ANTS/mast", "7"):
        with pytest.raises(NotFound, match=f"no output of '{wanted}'"):
            choose_outputs(found, ["4", wanted])


def seen(site: Service, principal: Principal) -> list[VisibleTestSet]:
    with reading(site.engine) as connection:
        return visible_test_sets(connection, read_access(connection, principal, "wmt"))


def test_test_sets_of_which_anything_may_be_seen(site: Service) -> None:
    coming = site.phase(site.campaign("wmt"), "later", PhaseKind.OPEN, begins=DAY)
    first, second = CampaignTestSet.test_set_id == 1, CampaignTestSet.test_set_id == 2
    for values, expected in (
        ({}, [(1, True, 0), (2, True, 0)]),
        ({"references_released_at": now()}, [(1, True, 1), (2, True, 0)]),
        ({"phase_id": coming}, [(2, True, 0)]),
        ({"references_released_at": None}, [(2, True, 0)]),
        ({"phase_id": None, "replaced_by": 2}, [(2, True, 0), (1, True, 0)]),
    ):
        if values:
            with writing(site.engine) as connection:
                connection.execute(update(CampaignTestSet).where(first).values(**values))
        found = seen(site, NOBODY)
        assert [(each.id, each.source_text is not None, len(each.references)) for each in found] == expected, values
        assert {each.id for each in seen(site, COMMAND_LINE)} == {1, 2}
    assert [each.replaced for each in found] == [False, True]
    with writing(site.engine) as connection:
        connection.execute(update(CampaignTestSet).where(first).values(replaced_by=None, position=5))
        connection.execute(update(CampaignTestSet).where(second).values(position=3))
    assert [each.id for each in seen(site, NOBODY)] == [2, 1]


def test_references_come_in_their_order(site: Service) -> None:
    references = [NamedContent(f"{name}.txt", b"%d\ny\nz\n" % number) for number, name in enumerate("BCA")]
    added = with_test_set(site.engine, "wmt", given(references=references), name="three")
    with writing(site.engine) as connection:
        connection.execute(update(CampaignTestSet).values(references_released_at=now()))
    found = find_test_set(seen(site, NOBODY), str(added))
    assert [label for label, _ in found.references] == ["A", "B", "C"]


def test_a_test_set_is_found_by_number_title_or_name(site: Service) -> None:
    with writing(site.engine) as connection:
        ours = update(CampaignTestSet).where(CampaignTestSet.test_set_id == 2)
        connection.execute(ours.values(name="news", version="2"))
    found = seen(site, NOBODY)
    assert [each.title for each in found] == ["news", "news (version 2)"]
    for wanted, expected in (("", 1), ("1", 1), ("2", 2), ("news", 1), ("news (version 2)", 2)):
        assert find_test_set(found, wanted).id == expected
    assert find_test_set([replace(found[1], id=7)], "news").id == 7
    with pytest.raises(
        NotFound, match=r"no test set 'talks' that you may see. There are: \"news\", \"news \(version 2\)\""
    ):
        find_test_set(found, "talks")
    with pytest.raises(NotFound, match="no test set here yet"):
        find_test_set([], "")


def test_a_short_name_is_the_systems_alone_where_nothing_else_is_called_so(site: Service) -> None:
    submit_output(site.engine, "wmt", "bees", "mast", b"8\ny\nz\n", test_set="news")
    submit_output(site.engine, "wmt", "bees", "bees", b"9\ny\nz\n", test_set="news")
    submit_output(site.engine, "wmt", "bees", "alpha", b"10\ny\nz\n", test_set="news")
    found = {each.name: (each.short, each.beside) for each in outputs(site, COMMAND_LINE)}
    assert found == {
        "ants/mast": ("ants/mast", ""),
        "bees/mast": ("bees/mast", ""),
        # A run of one of the two: nobody else has that.
        "ants/mast, run 1": ("mast, run 1", "ants"),
        "bees/alpha": ("alpha", "bees"),
        "bees/Zeta": ("Zeta", "bees"),
        # The team would say nothing more.
        "bees/bees": ("bees", ""),
    }
    # In another test set one of them is alone.
    assert [(each.short, each.beside) for each in outputs(site, COMMAND_LINE, 2)] == [("mast", "ants")]


def test_what_was_withdrawn_is_no_output_and_the_one_before_it_is(site: Service) -> None:
    with writing(site.engine) as connection:
        withdraw(connection, COMMAND_LINE, 4)
        withdraw(connection, COMMAND_LINE, 6)
    for principal, numbers in ((COMMAND_LINE, [2, 3, 5, 1]), (member("ants"), [2, 3, 5]), (NOBODY, [3, 5])):
        assert [each.submission for each in outputs(site, principal)] == numbers
        with reading(site.engine) as connection:
            access = read_access(connection, principal, "wmt")
            first = visible_outputs(connection, access, 1)
            assert outputs_by_test_set(connection, access) == {1: first}, "of the second nothing is left"
