"""A small world of systems, gone through whole: what each viewer sees of each, against the rule said once more.

Two campaigns share their systems and test sets. Nothing is left at its default: outputs are withdrawn, declared and
described as a seed draws it.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, select, update

from campaigns.accounts.principal import EVERY_SCOPE, Principal
from campaigns.errors import NotFound
from campaigns.permissions import CampaignTestSetView, TeamView
from campaigns.systems.listing import all_systems, find_system, list_systems, systems_by_name
from campaigns.visibility import sees_system
from models.database.session import reading, writing
from models.schema.accounts import Team
from models.schema.campaigns import Declaration
from models.schema.corpus import Submission, System
from models.schema.roles import SiteRole, SystemOrigin, TeamRole, Weights
from models.schema.systems import SystemDescription
from runtime.settings import Settings
from scheduler.ingest.campaigns import NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from tests.campaigns.test_permissions import access

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection, Engine

    from campaigns.permissions import CampaignAccess
    from tests.service.service import Service

SYSTEMS = (("", "base"), ("", "web"), ("", "plain"), ("harbour", "mast"), ("harbour", "keel"), ("guests", "mast"))
TEAMS = {"harbour": "The Sea", "guests": ""}
ROUNDS = 3


@dataclass(frozen=True)
class Row:
    """A submission."""

    campaign: int
    test_set: int
    system: int
    team: str
    name: str
    at: float
    withdrawn: bool
    constrained: bool | None


@dataclass
class World:
    """What is stored."""

    rows: list[Row]
    said: dict[tuple[int, int], dict[str, Any]]
    """By campaign and system."""


def fill(engine: Engine, seed: int) -> World:
    """Store all of it, as the seed draws."""
    draw, stored = Random(seed), set[int]()
    for campaign, test_set, number in product(("here", "there"), (1, 2), range(ROUNDS)):
        taken = ingest_campaign(
            engine,
            Settings(),
            campaign=campaign,
            test_set=NewTestSet(f"set {test_set}", {"A": f"reference {test_set}".encode()}),
            submissions=[
                NewSubmission(name, f"{team} {name} {number}".encode(), team)
                for team, name in SYSTEMS
                if draw.random() < 0.8
            ],
            protocols=[],
        )
        stored.update(taken.submissions)
    world = World([], {})
    with writing(engine) as connection:
        for name, affiliation in TEAMS.items():
            connection.execute(insert(Team).values(name=name, folded_name=name, affiliation=affiliation))
        for each in connection.execute(_submissions()).all():
            at = float(draw.randrange(1000))
            connection.execute(update(Submission).where(Submission.id == each.id).values(created_at=at))
            constrained, withdrawn = draw.choice((None, True, False, True)), draw.random() < 0.3
            if each.team:
                declared = {"campaign_id": each.campaign_id, "team": each.team, "test_set_id": each.test_set_id}
                declared |= {"constrained": constrained, "withdrawn_at": 1.0 if withdrawn else None}
                connection.execute(insert(Declaration).values(submission_id=each.id, **declared))
            else:
                constrained, withdrawn = None, False
            row = Row(
                each.campaign_id, each.test_set_id, each.system_id, each.team, each.name, at, withdrawn, constrained
            )
            world.rows.append(row)
        for key in sorted({(row.campaign, row.system) for row in world.rows}):
            if draw.random() < 0.8:
                world.said[key] = _describe(connection, draw, *key)
    return world


def _submissions() -> Any:
    columns = (
        Submission.id,
        Submission.campaign_id,
        Submission.test_set_id,
        Submission.system_id,
        System.team,
        System.name,
    )
    return select(*columns).join(System, System.id == Submission.system_id).order_by(Submission.id)


def _describe(connection: Connection, draw: Random, campaign: int, system: int) -> dict[str, Any]:
    said = {
        "origin": draw.choice((*SystemOrigin,)), "description": f"{campaign} {system}", "paper_url": f"p{campaign}",
        "url": f"u{system}", "parameters": draw.choice((None, 7)), "weights": draw.choice((*Weights,)),
        "constrained": draw.choice((None, True, False)), "affiliation": draw.choice(("", f"college {campaign}")),
    }  # fmt: skip
    connection.execute(insert(SystemDescription).values(campaign_id=campaign, system_id=system, **said))
    return said


def subsets(of: Iterable[Any]) -> list[tuple[Any, ...]]:
    items = list(of)
    return list(chain.from_iterable(combinations(items, count) for count in range(len(items) + 1)))


def viewers(campaign: int, test_sets: set[int]) -> Iterable[CampaignAccess]:
    """Everybody who may look at the campaign, at every time."""
    for organises, standing, anonymous, own, hidden in product(
        (False, True), ("open", "blind", "published"), (False, True), subsets(TEAMS), subsets(test_sets)
    ):
        principal = Principal(
            7, role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE, teams=dict.fromkeys(own, TeamRole.MEMBER)
        )
        yield replace(
            access("stranger", standing, anonymous=anonymous),
            campaign_id=campaign, organises=organises, principal=principal,
            teams={name: TeamView(name, f"{name}!", place) for place, name in enumerate(TEAMS, 1)},
            test_sets={key: CampaignTestSetView(key, 99 if key in hidden else None, None, None) for key in test_sets},
        )  # fmt: skip


def expected(world: World, viewer: CampaignAccess) -> dict[int, tuple[Any, ...]]:
    """The rule, said once more: system -> what is seen of it."""
    board = viewer.organises or viewer.phase is None or viewer.phase.kind in ("open", "published")
    names = viewer.organises or not viewer.anonymous or viewer.published
    seen: dict[int, list[Row]] = {}
    for row in world.rows:
        if row.campaign != viewer.campaign_id:
            continue
        said = world.said.get((row.campaign, row.system), {})
        nameless = row.team == "" and said.get("origin") in (SystemOrigin.BASELINE, SystemOrigin.ONLINE)
        known = viewer.test_sets[row.test_set].phase_id is None
        of_others = board and not row.withdrawn and (names or nameless)
        if viewer.organises or (known and (row.team in viewer.principal.teams or of_others)):
            seen.setdefault(row.system, []).append(row)
    return {system: described(world, viewer, rows) for system, rows in sorted(seen.items())}


def described(world: World, viewer: CampaignAccess, rows: list[Row]) -> tuple[Any, ...]:
    row = rows[0]
    said = world.said.get((row.campaign, row.system), {})
    declared = {each.constrained for each in rows} - {None}
    names = viewer.organises or not viewer.anonymous or viewer.published or row.team in viewer.principal.teams
    team = f"{row.team}!" if names and row.team else f"Team {list(TEAMS).index(row.team) + 1}" if row.team else ""
    return (
        *(team, row.name, row.team in viewer.principal.teams),
        *(len(rows), min(each.at for each in rows), max(each.at for each in rows)),
        *(said.get("origin", SystemOrigin.TEAM), said.get("description", "")),
        *(said.get("affiliation") or TEAMS.get(row.team, ""), said.get("paper_url", ""), said.get("url", "")),
        *(said.get("parameters"), said.get("weights", Weights.UNKNOWN)),
        declared.pop() if len(declared) == 1 else said.get("constrained"),
    )


FIELDS = (
    *("team", "system", "own", "submissions", "first_at", "last_at", "origin", "description", "affiliation"),
    *("paper_url", "url", "parameters", "weights", "constrained"),
)


def test_every_viewer_sees_of_every_system_what_the_rule_says(service: Service) -> None:
    world = fill(service.engine, 1)
    test_sets, everything = {row.test_set for row in world.rows}, {row.system for row in world.rows}
    with reading(service.engine) as connection:
        for campaign in sorted({row.campaign for row in world.rows}):
            for viewer in viewers(campaign, test_sets):
                wanted = expected(world, viewer)
                found = all_systems(connection, viewer)
                assert {each.id: tuple(getattr(each, name) for name in FIELDS) for each in found} == wanted
                assert [each.id for each in found] == sorted(wanted)
                by_name = sorted(found, key=lambda each: (each.system.casefold(), each.id))
                for first in range(0, len(found) + 2, 2):
                    assert systems_by_name(connection, viewer, first, 2) == (by_name[first : first + 2], len(found))
                # The other ways to ask have the same conditions.
                if viewer.anonymous and viewer.own_teams == ("guests",):
                    assert list_systems(connection, viewer, limit=1, after=None) == found[:2]
                    assert (
                        list_systems(connection, viewer, limit=1, after=min(everything))
                        == [each for each in found if each.id > min(everything)][:2]
                    )
                    for system in everything:
                        with nullcontext() if system in wanted else pytest.raises(NotFound):
                            assert find_system(connection, viewer, system) in found


def test_who_knows_which_system_one_on_a_leaderboard_is() -> None:
    for viewer in viewers(1, {1}):
        for team, origin in product(("", *TEAMS), SystemOrigin):
            nameless = team == "" and origin != SystemOrigin.TEAM
            named = viewer.organises or not viewer.anonymous or viewer.published
            assert sees_system(viewer, team, origin) == (named or nameless or team in viewer.principal.teams)
