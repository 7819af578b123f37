"""Who may see and do what in a campaign: one table for all viewers, phases and settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest

from campaigns.accounts.principal import EVERY_SCOPE, NOBODY, Principal
from campaigns.errors import Forbidden, NotSignedIn
from campaigns.permissions import (
    CampaignAccess,
    CampaignTestSetView,
    TeamView,
)
from models.corpus.phases import PhaseInfo
from models.schema.roles import (
    DeclaredKind,
    Feedback,
    Joining,
    LateRule,
    PhaseKind,
    Scope,
    SiteRole,
    TeamRole,
    Visibility,
)

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
    assert seen.sees_outputs == wanted.outputs_of_others
    for kind in DeclaredKind:
        # What was replaced is not published with the rest.
        kept_back = standing == "published" and viewer not in ALL_SEEING and kind != DeclaredKind.CONTRASTIVE
        assert seen.sees_output(THEIRS, kind) == wanted.outputs_of_others
        assert seen.sees_output(THEIRS, kind, ranked=False) == (wanted.outputs_of_others and not kept_back)
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


@pytest.mark.parametrize("scope", Scope)
def test_each_act_wants_its_own_scope(scope: Scope) -> None:
    """A token for submitting does not organise, nor the other way round."""
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
