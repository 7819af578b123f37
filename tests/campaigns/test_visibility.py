"""Which submissions of a campaign somebody may know of, and what of each: before boards, exports and outputs."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import delete, select, update

from campaigns.accounts.principal import COMMAND_LINE, NOBODY, Principal, principal_of_session
from campaigns.permissions import read_access
from campaigns.visibility import VisibleSubmission, read_visible_submissions, sees_output
from models.database.session import reading, writing
from models.schema.accounts import Team
from models.schema.base import now
from models.schema.campaigns import CampaignTestSet, Declaration, Participation, Phase
from models.schema.corpus import Submission
from models.schema.roles import DeclaredKind, Feedback, PhaseKind
from tests.service.campaigns import given, submit_output, with_test_set
from tests.service.service import DAY, Service

SUBMITTED: list[tuple[str, str, str, str, dict[str, Any]]] = [
    ("wmt", "ants", "mast", "news", {"declared": DeclaredKind.PRIMARY}),
    ("wmt", "ants", "sail", "news", {"declared": DeclaredKind.CONTRASTIVE, "run": "2"}),
    ("wmt", "bees", "hull", "news", {}),
    ("wmt", "bees", "hull", "news", {}),
    ("wmt", "bees", "keel", "news", {}),
    ("wmt", "ants", "mast", "talks", {}),
    ("wmt", "ants", "oars", "news", {}),
    ("other", "ants", "mast", "papers", {}),
]
"""Submissions 1 to 8. The fifth is withdrawn; of the bees the fourth is ranked, of the ants the first."""
OWN = {
    number: (number, True, team, system, values.get("run", ""), True)
    for number, (_, team, system, _, values) in enumerate(SUBMITTED, start=1)
}
"""As the team itself and organisers see them: id, whether it is theirs, names, whether the text is shown."""
Told = tuple[int, bool, str, str, str, bool, bool]


@pytest.fixture
def site(service: Service) -> Service:
    """Anonymous ants (mary) and bees (eve)."""
    people = {name: service.account(name) for name in ("mary", "eve")}
    service.people = people  # type: ignore[attr-defined]
    teams = service.team("ants", people["mary"]), service.team("bees", people["eve"])
    for name in ("wmt", "other"):
        service.campaign(name, teams=teams, anonymous=True)
    with_test_set(service.engine, "wmt", name="news")
    with_test_set(service.engine, "wmt", given(b"x\ny\nz\n"), name="talks")
    with_test_set(service.engine, "other", given(b"u\nv\nw\n"), name="papers")
    for number, (campaign, team, system, test_set, values) in enumerate(SUBMITTED, start=1):
        submit_output(service.engine, campaign, team, system, b"%d\ny\nz\n" % number, test_set=test_set, **values)
    with writing(service.engine) as connection:
        connection.execute(update(Declaration).where(Declaration.submission_id == 5).values(withdrawn_at=now()))
    return service


def principal(site: Service, who: str) -> Principal:
    if who in ("nobody", "organiser"):
        return NOBODY if who == "nobody" else COMMAND_LINE
    with reading(site.engine) as connection:
        return principal_of_session(connection, site.session(site.people[who]))  # type: ignore[attr-defined]


def shown(site: Service, who: str, *conditions: Any) -> list[Told]:
    known = principal(site, who)
    with reading(site.engine) as connection:
        access = read_access(connection, known, "wmt")
        found: list[VisibleSubmission] = read_visible_submissions(connection, access, *conditions)
        for each in found:
            assert sees_output(connection, access, each.id, each.test_set_id) == each.output
            assert each.real_team == SUBMITTED[each.id - 1][1]
        for missing in () if conditions else {*OWN} - {each.id for each in found}:
            assert not sees_output(connection, access, missing, 1)
    return [(each.id, each.own, each.team, each.system, each.run, each.output, each.scores) for each in found]


def own(*numbers: int, scores: bool) -> list[Told]:
    return [(*OWN[number], scores) for number in numbers]


def anonymous(number: int) -> Told:
    return (number, False, "Team 1" if SUBMITTED[number - 1][1] == "ants" else "Team 2", "", "", False, True)


def named(number: int, output: bool) -> Told:
    _, _, team, system, run, _ = OWN[number]
    return (number, False, team, system, run, output, True)


def merged(*parts: list[Told]) -> list[Told]:
    return sorted(each for part in parts for each in part)


def test_in_an_open_phase_all_that_stands_is_known_and_no_text_of_others(site: Service) -> None:
    site.phase(site.campaign("wmt"), "dev", PhaseKind.OPEN)
    everything = [anonymous(number) for number in (1, 2, 4, 6, 7)]
    assert shown(site, "nobody") == everything
    assert shown(site, "mary") == merged(own(1, 2, 6, 7, scores=True), [anonymous(4)])
    assert shown(site, "eve") == merged(own(3, 4, 5, scores=True), [each for each in everything if each[0] != 4])
    assert shown(site, "organiser") == own(*range(1, 8), scores=True)


@pytest.mark.parametrize("feedback", Feedback)
def test_in_a_blind_phase_each_team_knows_its_own_and_scores_as_it_says(site: Service, feedback: Feedback) -> None:
    site.phase(site.campaign("wmt"), "test", PhaseKind.BLIND, feedback=feedback)
    assert shown(site, "nobody") == []
    assert shown(site, "mary") == own(1, 2, 6, 7, scores=feedback == Feedback.FULL)
    assert shown(site, "eve") == own(3, 4, 5, scores=feedback == Feedback.FULL)
    assert shown(site, "organiser") == own(*range(1, 8), scores=True)


def test_a_team_that_does_not_take_part_knows_what_everybody_knows(site: Service) -> None:
    """Organisers may store outputs under its name by commands."""
    site.phase(site.campaign("wmt"), "test", PhaseKind.BLIND)
    with writing(site.engine) as connection:
        bees = select(Team.id).where(Team.name == "bees").scalar_subquery()
        connection.execute(delete(Participation).where(Participation.team_id == bees))
    assert shown(site, "eve") == []


def test_once_it_is_published_names_are_known_and_texts_of_what_is_ranked_or_contrastive(site: Service) -> None:
    site.phase(site.campaign("wmt"), "results", PhaseKind.PUBLISHED)
    everything = [named(1, True), named(2, True), named(4, True), named(6, True), named(7, False)]
    assert shown(site, "nobody") == everything
    assert shown(site, "eve") == merged(own(3, 4, 5, scores=True), [each for each in everything if each[0] != 4])
    assert shown(site, "nobody", Submission.test_set_id == 2) == [named(6, True)]


@pytest.mark.parametrize("kind", [PhaseKind.OPEN, PhaseKind.BLIND, PhaseKind.PUBLISHED])
def test_of_a_phase_to_come_only_organisers_know(site: Service, kind: PhaseKind) -> None:
    site.phase(site.campaign("wmt"), "now", kind)
    coming = site.phase(site.campaign("wmt"), "later", PhaseKind.OPEN, begins=DAY)
    before = {who: shown(site, who) for who in ("nobody", "mary", "eve", "organiser")}
    with writing(site.engine) as connection:
        talks = select(CampaignTestSet.test_set_id).where(CampaignTestSet.name == "talks").scalar_subquery()
        connection.execute(update(CampaignTestSet).where(CampaignTestSet.test_set_id == talks).values(phase_id=coming))
    for who, known in before.items():
        assert shown(site, who) == [each for each in known if each[0] != 6 or who == "organiser"], who


def test_without_phases_nothing_is_hidden_but_names(site: Service) -> None:
    assert shown(site, "nobody") == [(*anonymous(number)[:5], True, True) for number in (1, 2, 4, 6, 7)]
    with writing(site.engine) as connection:
        connection.execute(delete(Phase))
        connection.execute(update(Declaration).where(Declaration.submission_id == 4).values(withdrawn_at=now()))
    assert [each[0] for each in shown(site, "nobody")] == [1, 2, 3, 6, 7], "what came before stands again"
