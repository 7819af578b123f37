"""What the list of campaigns tells of each, and the best rank of one's own systems there."""

from __future__ import annotations

import pytest
from sqlalchemy import insert, select, update

from campaigns.accounts.principal import COMMAND_LINE, NOBODY, Principal, principal_of_account
from campaigns.changes import lock_for_change
from campaigns.overviews import CampaignOverview, OwnRank, overviews
from campaigns.permissions import read_access
from models.database.session import reading, writing
from models.schema.campaigns import Campaign, CampaignProtocol, CampaignTestSet, Participation
from models.schema.roles import PhaseKind, Scope
from scheduler.ingest.campaigns import NewProtocol, store_protocols
from steelyard.metrics.registry import parse_metric
from tests.service.campaigns import given, with_test_set
from tests.service.scored_campaigns import CONTRASTIVE, PRIMARY, Scored
from tests.service.service import DAY, Service


@pytest.fixture
def scored(service: Service) -> Scored:
    """A campaign of four teams; zoe is in two of them, harbour and pier."""
    found = Scored(service)
    found.add("", "baseline", 20.0)
    zoe, eve = service.account("zoe"), service.account("eve")
    teams = [service.team(name, zoe) for name in ("harbour", "pier")]
    teams += [service.team(name, eve) for name in ("light", "tower")]
    service.campaign("port", teams=tuple(teams))
    measured(found)
    return found


def measured(found: Scored) -> None:
    """The campaign measures as its submissions are measured."""
    with writing(found.service.engine) as connection:
        row = {"campaign_id": found.campaign_id, "protocol_id": found.protocol}
        connection.execute(insert(CampaignProtocol).values(**row))


def seen(service: Service, *campaigns: str, account: int | None = 1) -> list[CampaignOverview]:
    with reading(service.engine) as connection:
        who: Principal = NOBODY if account is None else principal_of_account(connection, account, *Scope)
        return overviews(connection, [read_access(connection, who, each) for each in campaigns])


def rank(scored: Scored, account: int = 1) -> tuple[str, int, int] | None:
    [found] = seen(scored.service, "port", account=account)
    return None if found.own is None else (found.own.system, found.own.rank, found.own.of)


def rank_by(scored: Scored, metric: str) -> None:
    with writing(scored.service.engine) as connection:
        connection.execute(update(Campaign).values(ranked_by=metric))


def test_the_best_of_all_own_teams_among_what_is_ranked(scored: Scored) -> None:
    assert rank(scored) is None
    scored.add("light", "lamp", 40.0, ter=30.0)
    scored.add("harbour", "mast", 30.0, ter=20.0)
    scored.add("pier", "plank", 35.0, ter=60.0)
    assert rank(scored) == ("plank", 2, 4)
    assert rank(scored, account=2) == ("lamp", 1, 4)
    # By the metric that ranks, in its direction.
    rank_by(scored, "ter")
    assert rank(scored) == ("mast", 1, 4)
    assert rank(scored, account=2) == ("lamp", 2, 4)
    rank_by(scored, "nothing that is here")
    assert rank(scored) == ("plank", 2, 4)


def test_equal_scores_share_a_rank_and_what_is_not_ranked_takes_none(scored: Scored) -> None:
    scored.add("light", "lamp", 40.0)
    scored.add("tower", "bell", 40.0, **PRIMARY)
    scored.add("tower", "horn", 50.0, **CONTRASTIVE)
    scored.add("harbour", "mast", 35.0)
    undefined = scored.add("pier", "plank", None)
    assert rank(scored) == ("mast", 3, 4)
    gone = scored.add("light", "torch", 60.0, **PRIMARY)
    assert rank(scored) == ("mast", 3, 4), "the lamp is not its primary any more"
    scored.withdraw(gone)
    assert rank(scored) == ("mast", 3, 4)
    scored.finish(undefined, 39.0)
    assert rank(scored) == ("plank", 3, 5)


def test_runs_count_by_their_mean_once_all_have_scores(scored: Scored) -> None:
    scored.add("light", "lamp", 33.0)
    scored.add("harbour", "mast", 30.0, run="1", text="one")
    later = scored.add("harbour", "mast", None, run="2", text="two", state="running")
    assert rank(scored) is None
    scored.finish(later, 40.0)
    assert rank(scored) == ("mast", 1, 3)
    scored.finish(later, 32.0)
    assert rank(scored) == ("mast", 2, 3)


def test_a_hidden_board_tells_no_rank_and_others_have_none(scored: Scored) -> None:
    scored.add("harbour", "mast", 30.0)
    assert rank(scored) == ("mast", 1, 2)
    assert seen(scored.service, "port", account=None)[0].own is None
    assert rank(scored, account=scored.service.account("sam")) is None
    scored.service.phase(scored.campaign_id, "blind", PhaseKind.BLIND)
    assert rank(scored) is None


def test_campaigns_that_measure_alike_keep_their_ranks_apart(service: Service, scored: Scored) -> None:
    other = Scored(service, name="bay")
    scored.add("harbour", "mast", 30.0)
    other.add("harbour", "sail", 20.0)
    for team, score in (("light", 40.0), ("tower", 50.0)):
        other.add(team, "lamp", score)
    assert other.protocol == scored.protocol
    with writing(service.engine) as connection:
        row = {"campaign_id": other.campaign_id, "protocol_id": other.protocol}
        connection.execute(insert(CampaignProtocol).values(**row))
        for team, number in ((1, 1), (3, 2)):
            joined = {"campaign_id": other.campaign_id, "team_id": team, "number": number}
            connection.execute(insert(Participation).values(**joined))
    found = seen(service, "bay", "port")
    assert [each.own for each in found] == [OwnRank("sail", "port", 3, 3), OwnRank("mast", "port", 1, 2)]
    assert [each.own for each in reversed(seen(service, "port", "bay"))] == [each.own for each in found]


def test_most_references_then_the_newest_way_of_measuring(service: Service, scored: Scored) -> None:
    scored.add("harbour", "mast", 30.0)
    # Another test set of the campaign comes later, and does not count yet.
    with_test_set(service.engine, "port", given(target_language="de"), name="talks", metrics=("bleu",))
    assert rank(scored) == ("mast", 1, 2)
    with writing(service.engine) as connection:
        # A sweep of a parameter is no way of measuring for the campaign, however new it is.
        swept = NewProtocol(["A"], [parse_metric(f"chrf:beta={beta}") for beta in (1, 3)], 0, sweep=True)
        (sweep,) = store_protocols(connection, scored.test_set, [swept])
        access = lock_for_change(connection, COMMAND_LINE, "port")
        connection.execute(insert(CampaignProtocol).values(campaign_id=access.campaign_id, protocol_id=sweep))
    assert rank(scored) == ("mast", 1, 2)
    with writing(service.engine) as connection:
        # A newer way against the same references, which has no scores yet.
        metrics = [parse_metric(each) for each in ("bleu", "ter", "wer")]
        (newer,) = store_protocols(connection, scored.test_set, [NewProtocol(["A"], metrics, 7)])
        access = lock_for_change(connection, COMMAND_LINE, "port")
        connection.execute(insert(CampaignProtocol).values(campaign_id=access.campaign_id, protocol_id=newer))
    assert rank(scored) is None


def test_languages_and_segments_are_those_of_visible_test_sets_that_stand(service: Service) -> None:
    campaign = service.campaign("wmt")
    later = service.phase(campaign, "later", PhaseKind.OPEN, begins=DAY)
    service.phase(campaign, "now", PhaseKind.OPEN)
    for name, language in (("news", "cs"), ("talks", "de"), ("more", "cs"), ("secret", "fr"), ("old", "uk")):
        with_test_set(
            service.engine, "wmt", given(source=f"{name}\nb\nc\n".encode(), target_language=language), name=name
        )
    with writing(service.engine) as connection:
        named = {row.name: row.test_set_id for row in connection.execute(select(CampaignTestSet))}
        for name, values in (("secret", {"phase_id": later}), ("old", {"replaced_by": named["news"]})):
            which = CampaignTestSet.test_set_id == named[name]
            connection.execute(update(CampaignTestSet).where(which).values(**values))
    [found] = seen(service, "wmt", account=None)
    assert found.pairs == (("en", "cs"), ("en", "de"))
    assert found.segments == 9


@pytest.mark.parametrize(
    ("phases", "status", "deadline", "coming"),
    [
        ([], "open", None, None),
        ([("a", PhaseKind.OPEN, -1, 2)], "open", 2, None),
        ([("a", PhaseKind.BLIND, -1, None), ("b", PhaseKind.PUBLISHED, 3, None)], "open", 3, "b"),
        ([("a", PhaseKind.OPEN, -1, None)], "open", None, None),
        ([("a", PhaseKind.OPEN, -2, -1)], "closed", -1, None),
        ([("a", PhaseKind.OPEN, -3, -2), ("b", PhaseKind.CLOSED, -1, None)], "closed", None, None),
        ([("a", PhaseKind.CLOSED, -1, None), ("b", PhaseKind.PUBLISHED, 3, None)], "coming", None, "b"),
        ([("a", PhaseKind.OPEN, -3, -2), ("b", PhaseKind.OPEN, 1, 2), ("c", PhaseKind.OPEN, 4, 5)], "coming", -2, "b"),
        ([("a", PhaseKind.OPEN, -3, -2), ("b", PhaseKind.PUBLISHED, -1, None)], "over", None, None),
    ],
)
def test_where_a_campaign_stands(
    service: Service,
    phases: list[tuple[str, PhaseKind, float, float | None]],
    status: str,
    deadline: float | None,
    coming: str | None,
) -> None:
    campaign = service.campaign("wmt")
    [empty] = seen(service, "wmt", account=None)
    assert empty.status == "coming", "there is nothing to translate yet"
    with_test_set(service.engine, "wmt")
    for name, kind, begins, ends in phases:
        service.phase(campaign, name, kind, begins=begins * DAY, ends=None if ends is None else ends * DAY)
    [found] = seen(service, "wmt", account=None)
    assert found.status == status
    assert (found.coming.name if found.coming else None) == coming
    away = None if found.deadline is None else (found.deadline - found.access.at) / DAY
    assert away == (None if deadline is None else pytest.approx(deadline, abs=0.01))
