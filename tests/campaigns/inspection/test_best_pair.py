"""The two systems that are shown to whoever names none: their rights, own ones first, without scores none."""

from __future__ import annotations

import pytest
from sqlalchemy import delete

from campaigns.accounts.principal import COMMAND_LINE, NOBODY, Principal, principal_of_account
from campaigns.inspection.best_pair import best_pair
from campaigns.leaderboards.view import Boards
from campaigns.permissions import read_access
from models.database.session import reading, writing
from models.schema.campaigns import Phase
from models.schema.roles import DeclaredKind, PhaseKind, Scope
from tests.service.scored_campaigns import CONTRASTIVE, PRIMARY, Scored
from tests.service.service import DAY, Service


@pytest.fixture
def scored(service: Service) -> Scored:
    """Systems 1 to 7 of four teams, from the best to the worst by BLEU, the other way round by TER; 8 has no score."""
    found = Scored(service)
    people = [service.account(name) for name in ("mary", "eve", "zoe", "ann")]
    names = ("light", "harbour", "pier", "tower")
    for number, (team, declared) in enumerate(
        [
            (1, PRIMARY), (0, CONTRASTIVE), (0, PRIMARY), (2, PRIMARY), (2, CONTRASTIVE), (3, PRIMARY), (None, {}),
        ],
        start=1,
    ):  # fmt: skip
        name = "" if team is None else names[team]
        assert found.add(name, f"s{number}", 60.0 - 5 * number, ter=70.0 - 5 * number, **declared) == number
    found.add("harbour", "s8", 99.0, state="queued", **CONTRASTIVE)
    service.campaign("port", teams=tuple(service.team(*each) for each in zip(names, people, strict=True)))
    return found


def pair(scored: Scored, account: int | Principal, test_set: str = "") -> list[int]:
    with reading(scored.service.engine) as connection:
        who = account if isinstance(account, Principal) else principal_of_account(connection, account, *Scope)
        access = read_access(connection, who, "port")
        boards = Boards(scored.service.engine, 2**20)
        return [int(each) for each in best_pair(connection, boards, access, test_set)]


def begin(scored: Scored, kind: PhaseKind) -> None:
    with writing(scored.service.engine) as connection:
        connection.execute(delete(Phase))
    scored.service.phase(scored.campaign_id, "now", kind, ends=DAY if kind != PhaseKind.PUBLISHED else None)


def test_the_best_two_or_the_best_own_one_and_the_best_other_one(scored: Scored) -> None:
    begin(scored, PhaseKind.PUBLISHED)
    # Eve's is the best; Mary's and Zoe's contrastive ones are none that a leaderboard ranks.
    assert [pair(scored, account) for account in (1, 2, 3, 4)] == [[3, 1], [1, 3], [4, 1], [6, 1]]
    assert pair(scored, NOBODY) == pair(scored, COMMAND_LINE) == [1, 3]
    scored.service.campaign("port", ranked_by="ter")
    assert [pair(scored, account) for account in (1, 2, 3, 4)] == [[3, 7], [1, 7], [4, 7], [6, 7]]
    assert pair(scored, NOBODY) == [7, 6]
    assert pair(scored, NOBODY, "port") == [7, 6]
    assert pair(scored, NOBODY, "another test set") == []


def test_before_results_are_published_nobody_sees_outputs_of_others(scored: Scored) -> None:
    begin(scored, PhaseKind.OPEN)
    assert [pair(scored, account) for account in (1, 2, 3, 4)] == [[]] * 4, "their only ranked one makes no pair"
    assert pair(scored, NOBODY) == []
    assert pair(scored, COMMAND_LINE) == [1, 3]
    begin(scored, PhaseKind.BLIND)
    assert [pair(scored, account) for account in (1, 2, 3, 4)] == [[]] * 4
    assert pair(scored, COMMAND_LINE) == [1, 3]


def test_two_own_ones_are_a_pair_where_nobody_elses_may_be_seen(scored: Scored) -> None:
    service = scored.service
    account = service.account("both")
    service.campaign("port", teams=(service.team("quay", account), service.team("dock", account)))
    scored.add("quay", "q", 3.0, **PRIMARY)
    scored.add("dock", "d", 2.0, **PRIMARY)
    begin(scored, PhaseKind.OPEN)
    assert pair(scored, account) == [9, 10]
    begin(scored, PhaseKind.BLIND)
    assert pair(scored, account) == [], "which of them is better is not told"
    begin(scored, PhaseKind.PUBLISHED)
    assert pair(scored, account) == [9, 1], "the best own one and the best other one"


def test_what_has_no_score_yet_is_in_no_pair(scored: Scored) -> None:
    begin(scored, PhaseKind.PUBLISHED)
    scored.add("", "waits", None, state="queued")
    scored.declare(3, kind=DeclaredKind.CONTRASTIVE)
    scored.add("light", "wait", None, state="running", **PRIMARY)
    # Mary's new primary one takes the place of that which was measured.
    assert pair(scored, 1) == pair(scored, NOBODY) == [1, 4]
