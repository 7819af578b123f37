"""What a system scores on each leaderboard: of which test sets, its rank among how many, and its row there."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.leaderboards.view import Boards
from campaigns.permissions import read_access
from campaigns.systems.profile import read_scores_of_system
from models.database.session import reading, writing
from models.schema.campaigns import CampaignTestSet
from models.schema.roles import PhaseKind, TeamRole
from steelyard_client.documents.submissions.systems import SystemOnTestSet
from tests.service.scored_campaigns import CONTRASTIVE, PRIMARY, Scored
from tests.service.service import DAY, Service


@pytest.fixture
def scored(service: Service) -> Scored:
    """Systems 1 to 5; the second is contrastive, the last has no score."""
    found = Scored(service)
    found.add("gulls", "dive", 40.0, **PRIMARY)
    found.add("gulls", "swim", 50.0, **CONTRASTIVE)
    found.add("", "base", 40.0)
    found.add("", "weak", 20.0)
    found.add("", "waits", None, state="queued")
    service.campaign("port", teams=(service.team("gulls", service.account("gull")),))
    return found


def scores(scored: Scored, system: int, principal: Principal = NOBODY) -> list[SystemOnTestSet]:
    with reading(scored.service.engine) as connection:
        boards = Boards(scored.service.engine, 2**20)
        return read_scores_of_system(connection, boards, read_access(connection, principal, "port"), system)


def test_ranks_count_what_is_ranked_and_rows_what_stands_above(scored: Scored) -> None:
    found = {system: each for system in range(1, 6) for each in scores(scored, system)}
    assert {system: (each.rank, each.of, each.ranked) for system, each in found.items()} == {
        1: (1, 3, True),
        2: (None, 3, False),
        3: (1, 3, True),
        4: (3, 3, True),
        5: (None, 3, True),
    }
    # The row on a leaderboard that shows what is ranked alone, where it is ranked.
    assert {system: each.row for system, each in found.items() if each.ranked} == {1: 0, 3: 1, 4: 2, 5: 3}
    assert found[1].scores[0].score == 40.0
    assert found[1].scores[0].low is not None
    assert found[5].scores == []


def test_corrected_test_sets_take_the_place_of_the_old_ones(scored: Scored) -> None:
    later = Scored(scored.service, version="2", lines=b"x\nz")
    later.add("", "base", 45.0)
    assert [(each.version, each.scores[0].score) for each in scores(scored, 3)] == [("1", 40.0), ("2", 45.0)]
    with writing(scored.service.engine) as connection:
        old = update(CampaignTestSet).where(CampaignTestSet.test_set_id == scored.test_set)
        connection.execute(old.values(replaced_by=later.test_set))
    assert [(each.version, each.scores[0].score) for each in scores(scored, 3)] == [("2", 45.0)]
    assert scores(scored, 4) == []


def test_outputs_and_scores_are_for_whom_they_are_shown_to(scored: Scored) -> None:
    gull = Principal(1, scopes=EVERY_SCOPE, teams={"gulls": TeamRole.MEMBER})

    def seen(principal: Principal) -> list[bool]:
        return [each.output for system in (1, 2, 3) for each in scores(scored, system, principal)]

    scored.service.phase(scored.campaign_id, "now", PhaseKind.OPEN, begins=-3, ends=DAY)
    assert seen(NOBODY) == [False] * 3
    assert seen(gull) == [True, True, False]
    assert seen(COMMAND_LINE) == [True] * 3
    scored.service.phase(scored.campaign_id, "blind", PhaseKind.BLIND, begins=-2, ends=DAY)
    assert seen(NOBODY) == seen(gull) == []
    assert seen(COMMAND_LINE) == [True] * 3
    scored.service.phase(scored.campaign_id, "out", PhaseKind.PUBLISHED, begins=-1)
    assert seen(NOBODY) == [True] * 3
