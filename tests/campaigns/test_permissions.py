"""Who may see and do what in a campaign: one table for all viewers, phases and settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest
from sqlalchemy import insert, update

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.errors import Forbidden, NotFound, NotSignedIn
from campaigns.permissions import (
    CampaignAccess,
    CampaignTestSetView,
    TeamView,
    UnreadableCampaign,
    read_access,
    read_access_by_id,
    visible_campaigns,
)
from models.corpus.phases import PhaseInfo
from models.database.session import reading, writing
from models.schema.accounts import Team
from models.schema.campaigns import Campaign, CampaignMember, CampaignTestSet
from models.schema.corpus import TestSet
from models.schema.roles import (
    CampaignRole,
    Feedback,
    Joining,
    LateRule,
    PhaseKind,
    Scope,
    SiteRole,
    TeamRole,
    Visibility,
)
from tests.service.service import DAY, Service

NOW = 1_000_000.0
OURS, THEIRS = "harbour", "guests"
BOUND, FREE, UNLISTED = 1, 2, 3
"""Test sets: of the last phase; of no phase, with references that are released; not in the campaign's list."""

VIEWERS = {
    "nobody": NOBODY,
    "stranger": Principal(account_id=1, role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE),
    "member": Principal(account_id=2, role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE, teams={OURS: TeamRole.MEMBER}),
    "viewer": Principal(account_id=3, role=SiteRole.VIEWER, scopes=EVERY_SCOPE),
    "organiser": Principal(account_id=4, role=SiteRole.ORGANISER, scopes=EVERY_SCOPE),
    "administrator": Principal(account_id=5, role=SiteRole.ADMINISTRATOR, scopes=EVERY_SCOPE),
}
ALL_SEEING = ("organiser", "administrator")

PHASES: dict[str, list[PhaseKind]] = {
    "none": [],
    "not begun": [],
    "open": [PhaseKind.OPEN],
    "blind": [PhaseKind.OPEN, PhaseKind.BLIND],
    "closed after open": [PhaseKind.OPEN, PhaseKind.CLOSED],
    "closed after blind": [PhaseKind.BLIND, PhaseKind.CLOSED],
    "published": [PhaseKind.BLIND, PhaseKind.CLOSED, PhaseKind.PUBLISHED],
}
BOARD_IS_SEEN = {"none", "open", "closed after open", "published"}
"""By everybody who sees the campaign."""


def phase(number: int, kind: PhaseKind, starts_at: float, feedback: Feedback = Feedback.ROUNDED) -> PhaseInfo:
    return PhaseInfo(number, f"phase {number}", kind, starts_at, None, LateRule.REFUSE, 0.0, feedback, 1.0)


def access(viewer: str, standing: str, *, anonymous: bool = True) -> CampaignAccess:
    """A viewer before a campaign whose phases began one after the other; one more is still to come."""
    kinds = PHASES[standing]
    # Only what a blind phase says is ever told: others would tell all.
    phases = [
        phase(number, kind, NOW - 100 + number, Feedback.ROUNDED if kind == PhaseKind.BLIND else Feedback.FULL)
        for number, kind in enumerate(kinds, start=1)
    ]
    if standing != "none":
        phases.append(phase(99, PhaseKind.OPEN, NOW + 100))
    return CampaignAccess(
        principal=VIEWERS[viewer],
        campaign_id=1,
        name="wmt",
        title="WMT",
        description="",
        time_zone="UTC",
        visibility=Visibility.PUBLIC,
        joining=Joining.OPEN,
        anonymous=anonymous,
        verified_only=False,
        ranked_by="",
        frozen_at=None,
        at=NOW,
        organises=viewer in ALL_SEEING,
        views=viewer == "viewer",
        phases=phases,
        test_sets={
            BOUND: CampaignTestSetView(BOUND, phases[-1].id if phases else None, None, None),
            FREE: CampaignTestSetView(FREE, None, NOW - 1, None),
        },
        teams={OURS: TeamView(OURS, "Harbour Lab", 7), THEIRS: TeamView(THEIRS, "", 12)},
    )


@dataclass(frozen=True)
class Expected:
    """What the table of `campaigns.permissions` says of one viewer at one time."""

    board: bool
    names: bool
    outputs_of_others: bool
    feedback: Feedback
    source_of_the_coming_phase: bool
    blind_references: bool


def expected(viewer: str, standing: str, anonymous: bool) -> Expected:
    """Written down apart from the code, as the table says it."""
    if viewer in ALL_SEEING:
        return Expected(True, True, True, Feedback.FULL, True, True)
    board = standing in BOARD_IS_SEEN
    feedback = Feedback.FULL if board else Feedback.NONE
    if viewer == "member" and standing in ("blind", "closed after blind"):
        feedback = Feedback.ROUNDED
    return Expected(
        board=board,
        names=not anonymous or standing == "published",
        outputs_of_others=standing in ("none", "published"),
        feedback=feedback,
        source_of_the_coming_phase=standing == "none",
        blind_references=False,
    )


@pytest.mark.parametrize("anonymous", [True, False], ids=["anonymous", "named"])
@pytest.mark.parametrize(("viewer", "standing"), list(product(VIEWERS, PHASES)))
def test_the_table(viewer: str, standing: str, anonymous: bool) -> None:
    seen, wanted = access(viewer, standing, anonymous=anonymous), expected(viewer, standing, anonymous)
    assert (
        Expected(
            seen.sees_board,
            seen.sees_names,
            seen.sees_output(THEIRS),
            seen.feedback(OURS),
            seen.sees_source(BOUND),
            seen.sees_references(BOUND),
        )
        == wanted
    )
    assert seen.hidden_test_sets == (set() if wanted.source_of_the_coming_phase else {BOUND})
    # What does not depend on any of it.
    assert seen.sees_references(FREE)
    assert seen.sees_source(FREE)
    assert seen.sees_references(UNLISTED) == (viewer in ALL_SEEING)
    assert seen.sees_source(UNLISTED)
    assert seen.sees_output(OURS) == (wanted.outputs_of_others or viewer == "member")
    assert seen.feedback(THEIRS) == (Feedback.FULL if wanted.board else Feedback.NONE)


@pytest.mark.parametrize("viewer", VIEWERS)
def test_names_of_teams_and_systems(viewer: str) -> None:
    hidden, named = access(viewer, "open"), access(viewer, "open", anonymous=False)
    knows = viewer in ALL_SEEING
    assert hidden.name_of(THEIRS) == (THEIRS if knows else "Team 12")
    assert hidden.system_name_of(THEIRS, "tent") == ("tent" if knows else "")
    ours = knows or viewer == "member"
    assert hidden.name_of(OURS) == ("Harbour Lab" if ours else "Team 7")
    assert hidden.system_name_of(OURS, "mast") == ("mast" if ours else "")
    assert (named.name_of(OURS), named.name_of(THEIRS)) == ("Harbour Lab", THEIRS)
    # Systems without a team of the campaign are those of its organisers.
    assert hidden.name_of("") == ""
    assert hidden.name_of("never joined") == ("never joined" if knows else "Another team")
    assert hidden.system_name_of("never joined", "x") == ("x" if knows else "")
    assert hidden.system_name_of("", "baseline") == "baseline"


@pytest.mark.parametrize("standing", PHASES)
def test_the_phase_is_that_which_began_last(standing: str) -> None:
    seen, kinds = access("nobody", standing), PHASES[standing]
    assert (seen.phase.kind if seen.phase else None) == (kinds[-1] if kinds else None)
    assert seen.published == (standing == "published")


def test_a_closed_phase_hides_nothing_that_was_seen_and_shows_nothing_that_was_not() -> None:
    for before, after in (("open", "closed after open"), ("blind", "closed after blind")):
        for viewer in VIEWERS:
            assert access(viewer, before).sees_board == access(viewer, after).sees_board
            assert access(viewer, before).feedback(OURS) == access(viewer, after).feedback(OURS)


@pytest.mark.parametrize("viewer", VIEWERS)
def test_who_organises(viewer: str) -> None:
    seen = access(viewer, "open")
    if viewer in ALL_SEEING:
        seen.require_organiser()
    else:
        with pytest.raises(NotSignedIn if viewer == "nobody" else Forbidden):
            seen.require_organiser()


@pytest.mark.parametrize("viewer", VIEWERS)
def test_who_acts_for_a_team(viewer: str) -> None:
    seen = access(viewer, "open")
    if viewer == "member":
        seen.require_team(OURS)
    else:
        with pytest.raises(NotSignedIn if viewer == "nobody" else Forbidden):
            seen.require_team(OURS)
    with pytest.raises((NotSignedIn, Forbidden)):
        seen.require_team(OURS, TeamRole.LEAD)
    with pytest.raises((NotSignedIn, Forbidden)):
        seen.require_team("a team of another campaign")


def test_a_token_for_reading_changes_nothing() -> None:
    for viewer, act in (
        ("organiser", lambda seen: seen.require_organiser()),
        ("member", lambda seen: seen.require_team(OURS)),
    ):
        known = VIEWERS[viewer]
        reader = Principal(known.account_id, role=known.role, scopes=frozenset({Scope.READ}), teams=known.teams)
        seen = access(viewer, "open")
        values: dict[str, Any] = {name: getattr(seen, name) for name in CampaignAccess.__dataclass_fields__}
        with pytest.raises(Forbidden, match="cannot be used to"):
            act(CampaignAccess(**{**values, "principal": reader}))


class Site:
    """A public and a private campaign with the same people in them."""

    def __init__(self, service: Service) -> None:
        self.service = service
        accounts = {name: service.account(name) for name in ("olga", "mary", "vera", "eve", "other")}
        root = service.account("root", SiteRole.ADMINISTRATOR)
        team = service.team(OURS, accounts["mary"])
        self.ids = {}
        for name, visibility in (("open", Visibility.PUBLIC), ("secret", Visibility.PRIVATE)):
            self.ids[name] = service.campaign(
                name, organisers=(accounts["olga"],), teams=(team,), visibility=visibility
            )
            row = {"campaign_id": self.ids[name], "account_id": accounts["vera"], "role": CampaignRole.VIEWER}
            with writing(service.engine) as connection:
                connection.execute(insert(CampaignMember).values(**row))
        service.campaign("elsewhere", organisers=(accounts["other"],), visibility=Visibility.PRIVATE)
        self.principals = {
            name: Principal(account_id=key, role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE)
            for name, key in accounts.items()
        }
        self.principals["mary"] = Principal(
            accounts["mary"], role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE, teams={OURS: TeamRole.LEAD}
        )
        self.principals |= {"nobody": NOBODY, "root": Principal(root, role=SiteRole.ADMINISTRATOR)}
        self.principals["command line"] = COMMAND_LINE


def test_who_knows_of_a_private_campaign(service: Service) -> None:
    site = Site(service)
    knowing = {"olga", "mary", "vera", "root", "command line"}
    messages = set()
    for name, principal in site.principals.items():
        with reading(service.engine) as connection:
            assert read_access(connection, principal, "open").name == "open"
            listed = [each.name for each in visible_campaigns(connection, principal)]
            assert ("secret" in listed) == (name in knowing), name
            assert ("elsewhere" in listed) == (name in ("other", "root", "command line")), name
            if name in knowing:
                seen = read_access_by_id(connection, principal, site.ids["secret"])
                assert seen.organises == (name in ("olga", "root", "command line"))
                assert seen.views == (name == "vera")
                assert seen.own_teams == ((OURS,) if name == "mary" else ())
                continue
            for wanted in ("secret", "missing"):
                with pytest.raises(NotFound) as error:
                    read_access(connection, principal, wanted)
                messages.add(str(error.value).replace(wanted, "X"))
            with pytest.raises(NotFound) as error:
                read_access_by_id(connection, principal, site.ids["secret"])
    assert len(messages) == 1, "a private campaign is missing in the very words of one that is not there"


def test_campaigns_come_page_by_page_whatever_cannot_be_read(service: Service) -> None:
    olga = service.account("olga")
    ids = {number: service.campaign(f"c{number}", organisers=(olga,) if number == 4 else ()) for number in range(1, 8)}
    with writing(service.engine) as connection:
        connection.execute(update(Campaign).where(Campaign.id.in_([ids[3], ids[4]])).values(time_zone="Nowhere"))
    principal = Principal(olga, role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE)
    with reading(service.engine) as connection:
        for before, limit, names, odd in (
            (None, None, [7, 6, 5, 2, 1], [4, 3]),
            (ids[6], None, [5, 2, 1], [4, 3]),
            (None, 2, [7, 6], []),
            (None, 4, [7, 6, 5, 2], [4, 3]),
            (ids[6], 2, [5, 2], [4, 3]),
            (ids[2], 2, [1], []),
            (ids[1], 2, [], []),
        ):
            unreadable: list[UnreadableCampaign] = []
            found = visible_campaigns(connection, principal, before=before, limit=limit, unreadable=unreadable)
            assert [each.name for each in found] == [f"c{number}" for number in names]
            assert [each.name for each in unreadable] == [f"c{number}" for number in odd]
            assert {each.name: "Nowhere" in each.reason for each in unreadable} == (
                {"c4": True, "c3": False} if odd else {}
            ), "why is for those who organise it"
            assert all(each.reason == "" for each in unreadable if each.name == "c3")


def test_times_are_those_of_the_database(service: Service) -> None:
    campaign = service.campaign("wmt")
    service.phase(campaign, "dev", PhaseKind.OPEN, begins=-DAY, ends=DAY)
    service.phase(campaign, "test", PhaseKind.BLIND, begins=DAY)
    with reading(service.engine) as connection:
        seen = read_access(connection, NOBODY, "wmt")
    assert seen.phase is not None
    assert (seen.phase.name, [each.name for each in seen.phases]) == ("dev", ["dev", "test"])
    assert seen.phase.takes(seen.at)


@pytest.mark.parametrize(("first", "second"), [(-1.0, 1.0), (0.0, 1.0), (-2.0, -1.0), (1.0, 2.0)])
def test_a_source_is_seen_from_the_beginning_of_its_own_phase(first: float, second: float) -> None:
    phases = [phase(1, PhaseKind.OPEN, NOW + first), phase(2, PhaseKind.BLIND, NOW + second)]
    for released in (None, NOW - 9):
        test_sets = {key: CampaignTestSetView(key, key, released, None) for key in (1, 2)}
        seen = replace(access("stranger", "open"), phases=phases, test_sets=test_sets)
        begun = [first <= 0, second <= 0]
        assert [seen.sees_source(key) for key in (1, 2)] == begun
        assert [seen.sees_references(key) for key in (1, 2)] == ([False, False] if released is None else begun)


def test_one_of_two_test_sets_is_released() -> None:
    for released in ({1}, {2}, {1, 2}, set()):
        test_sets = {key: CampaignTestSetView(key, None, NOW if key in released else None, None) for key in (1, 2)}
        seen = replace(access("stranger", "blind"), test_sets=test_sets)
        assert {key for key in (1, 2) if seen.sees_references(key)} == released
        assert seen.sees_segments == bool(released)


@pytest.mark.parametrize(("viewer", "standing"), list(product(VIEWERS, PHASES)))
def test_segments_are_for_those_who_see_any_text(viewer: str, standing: str) -> None:
    seen = replace(access(viewer, standing), test_sets={BOUND: CampaignTestSetView(BOUND, None, None, None)})
    assert seen.sees_segments == (seen.sees_output(OURS) or seen.sees_output(THEIRS))


@pytest.mark.parametrize(
    ("kind", "begins", "ends", "frozen", "takes"),
    [
        (PhaseKind.OPEN, -1.0, 1.0, False, True),
        (PhaseKind.BLIND, -1.0, None, False, True),
        (PhaseKind.OPEN, 0.0, 1.0, False, True),
        (PhaseKind.OPEN, -1.0, 0.0, False, False),
        (PhaseKind.OPEN, 1.0, 2.0, False, False),
        (PhaseKind.CLOSED, -1.0, 1.0, False, False),
        (PhaseKind.PUBLISHED, -1.0, None, False, False),
        (PhaseKind.OPEN, -1.0, 1.0, True, False),
    ],
)
def test_when_teams_can_submit(kind: PhaseKind, begins: float, ends: float | None, frozen: bool, takes: bool) -> None:
    only = replace(phase(1, kind, NOW + begins), ends_at=None if ends is None else NOW + ends)
    seen = replace(access("member", "none"), phases=[only], frozen_at=NOW if frozen else None)
    assert seen.takes_submissions == takes


def test_one_phase_is_now_and_those_before_it_are_past() -> None:
    first, second, third = (
        phase(number, PhaseKind.OPEN, NOW + begins) for number, begins in ((1, -9), (2, -5), (3, 5))
    )
    over = replace(second, ends_at=NOW - 1)
    seen = replace(access("member", "none"), phases=[first, second, third])
    assert [seen.phase_status(each) for each in (first, second, third)] == ["past", "now", "ahead"]
    seen = replace(seen, phases=[first, over, third])
    assert [seen.phase_status(each) for each in (first, over, third)] == ["past", "past", "ahead"]
    assert replace(seen, phases=[third]).phase_status(third) == "ahead"


def test_without_phases_teams_can_submit_until_it_is_frozen() -> None:
    assert access("member", "none").takes_submissions
    assert not replace(access("member", "none"), frozen_at=NOW).takes_submissions


def test_who_leads_a_team_acts_as_its_lead_in_campaigns_of_the_team() -> None:
    leader = Principal(
        2, role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE, teams={OURS: TeamRole.LEAD, "x": TeamRole.LEAD}
    )
    seen = replace(access("member", "open"), principal=leader)
    seen.require_team(OURS, TeamRole.LEAD)
    seen.require_team(OURS)
    for team in ("x", THEIRS):
        with pytest.raises(Forbidden):
            seen.require_team(team)


def test_what_the_database_says_of_a_campaign_is_what_is_seen(service: Service) -> None:
    """Every field from its own column, and nothing of another campaign."""
    owner = service.account("olga")
    teams = [service.team(name, service.account(f"of {name}")) for name in ("zebra", "ants", "bees")]
    other = service.campaign("other", teams=(teams[0], teams[2]))
    campaign = service.campaign(
        "wmt",
        organisers=(owner,),
        teams=(teams[2], teams[1]),
        title="The title",
        description="It describes.",
        time_zone="Europe/Prague",
        joining=Joining.INVITED,
        anonymous=True,
        verified_only=True,
        ranked_by="bleu",
        frozen_at=123.0,
    )
    elsewhere, phase_id = (
        service.phase(each, name, PhaseKind.OPEN) for each, name in ((other, "theirs"), (campaign, "ours"))
    )
    with writing(service.engine) as connection:
        connection.execute(update(Team).where(Team.name == "ants").values(publication_name="The Ants"))
        row = {"segments": 1, "source_language": "en", "target_language": "cs", "variable_references": False}
        sets = [
            connection.execute(
                insert(TestSet).values(content_hash=f"{number}", **row).returning(TestSet.id)
            ).scalar_one()
            for number in range(4)
        ]
        for values in (
            {"campaign_id": campaign, "test_set_id": sets[0], "position": 2, "phase_id": phase_id},
            {"campaign_id": campaign, "test_set_id": sets[1], "position": 1, "references_released_at": 77.0},
            {"campaign_id": campaign, "test_set_id": sets[2], "position": 2, "replaced_by": sets[1]},
            {"campaign_id": other, "test_set_id": sets[3], "position": 0, "phase_id": elsewhere},
        ):
            connection.execute(insert(CampaignTestSet).values(name="t", version=f"{values['test_set_id']}", **values))
    for find in (read_access, read_access_by_id):
        with reading(service.engine) as connection:
            seen = find(connection, COMMAND_LINE, "wmt" if find is read_access else campaign)
        assert (seen.campaign_id, seen.name, seen.title, seen.description) == (
            campaign,
            "wmt",
            "The title",
            "It describes.",
        )
        assert (seen.time_zone, seen.joining, seen.visibility) == ("Europe/Prague", Joining.INVITED, Visibility.PUBLIC)
        assert (seen.anonymous, seen.verified_only, seen.ranked_by, seen.frozen_at) == (True, True, "bleu", 123.0)
        assert [each.name for each in seen.phases] == ["ours"]
        assert dict(seen.teams) == {"ants": TeamView("ants", "The Ants", 2), "bees": TeamView("bees", "", 1)}
        assert list(seen.teams) == ["ants", "bees"]
        assert list(seen.test_sets.values()) == [
            CampaignTestSetView(sets[1], None, 77.0, None, "t", f"{sets[1]}"),
            CampaignTestSetView(sets[0], phase_id, None, None, "t", f"{sets[0]}"),
            CampaignTestSetView(sets[2], None, None, sets[1], "t", f"{sets[2]}"),
        ]
    with reading(service.engine) as connection:
        assert [each.name for each in visible_campaigns(connection, COMMAND_LINE)] == ["wmt", "other"]
        assert read_access(connection, NOBODY, "other").title == "other", (
            "a campaign without a title is called by its name"
        )
        for missing in (0, campaign + 1, -1):
            with pytest.raises(NotFound):
                read_access_by_id(connection, COMMAND_LINE, missing)


@pytest.mark.parametrize("scope", Scope)
def test_each_act_wants_its_own_scope(scope: Scope) -> None:
    """A token for handing in does not organise, nor the other way round."""
    for viewer, wanted, act in (
        ("organiser", Scope.ORGANISE, lambda seen: seen.require_organiser()),
        ("member", Scope.SUBMIT, lambda seen: seen.require_team(OURS)),
    ):
        seen = replace(access(viewer, "open"), principal=replace(VIEWERS[viewer], scopes=frozenset({scope})))
        if scope == wanted:
            act(seen)
        else:
            with pytest.raises(Forbidden, match=f'Create one with the scope "{wanted}"'):
                act(seen)
