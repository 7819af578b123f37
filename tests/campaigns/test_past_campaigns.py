"""The archive: whose results are out, and who won on each test set."""

from __future__ import annotations

import pytest
from sqlalchemy import delete

from campaigns.accounts.principal import NOBODY
from campaigns.leaderboards.view import Boards
from campaigns.past_campaigns import list_past_campaigns
from models.database.session import reading, writing
from models.schema.campaigns import Phase
from models.schema.roles import PhaseKind
from steelyard_client.documents.campaigns.past_campaigns import PastCampaign
from tests.service.scored_campaigns import CONTRASTIVE, Scored
from tests.service.service import Service


def archive(service: Service, limit: int = 10, after: int | None = None) -> tuple[list[PastCampaign], int | None]:
    with reading(service.engine) as connection:
        return list_past_campaigns(connection, Boards(service.engine, 2**20), NOBODY, limit=limit, after=after)


def winners(service: Service) -> list[tuple[str, str, list[str]]]:
    ((campaign,), _) = archive(service)
    return [(each.test_set, each.ranked_by, each.systems) for each in campaign.winners]


def publish(scored: Scored) -> None:
    scored.service.campaign(scored.name)
    scored.service.phase(scored.campaign_id, "results", PhaseKind.PUBLISHED)


@pytest.mark.parametrize(("ranked_by", "by"), [("", "BLEU"), ("ter", "TER")])
def test_the_first_cluster_wins(service: Service, ranked_by: str, by: str) -> None:
    """What resampling cannot tell from the best one, and nothing else."""
    scored = Scored(service, replicates=200)
    for place, (score, spread) in enumerate(((40.0, 2.0), (39.9, 2.0), (39.8, 2.0), (20.0, 0.1), (19.9, 0.1))):
        scored.add("", f"s{place}", score, ter=score, spread=spread)
    publish(scored)
    service.campaign("port", ranked_by=ranked_by)
    best = ["s0", "s1", "s2"] if by == "BLEU" else ["s4", "s3"]
    ((test_set, ranked, systems),) = winners(service)
    assert (test_set, ranked) == ("port", by)
    if by == "BLEU":
        assert systems == best
    else:
        assert systems[0] == best[0]
        assert set(systems) <= set(best)


def test_without_replicates_equal_scores_share_the_first_rank(service: Service) -> None:
    scored = Scored(service, replicates=0)
    for place, score in enumerate((40.0, 41.0, 41.0, 39.0)):
        scored.add("", f"s{place}", score)
    scored.add("gulls", "better but not ranked", 60.0, **CONTRASTIVE)
    scored.add("", "without a score", None)
    publish(scored)
    assert winners(service) == [("port", "BLEU", ["s1", "s2"])]


def test_every_test_set_has_winners_and_only_published_campaigns_are_there(service: Service) -> None:
    first = Scored(service, replicates=0)
    first.add("", "a", 40.0)
    first.add("", "b", 30.0)
    second = Scored(service, replicates=0, version="2", lines=b"x\nz")
    second.add("", "b", 50.0)
    second.add("", "a", 30.0)
    assert archive(service) == ([], None)
    publish(first)
    other = Scored(service, "pier", replicates=0)
    other.add("", "c", 10.0)
    assert winners(service) == [("port", "BLEU", ["a"]), ("port (version 2)", "BLEU", ["b"])]
    publish(other)
    assert [each.name for each in archive(service)[0]] == ["pier", "port"]
    third = Scored(service, "quay", replicates=0)
    third.add("", "d", 10.0)
    publish(third)
    names = ["quay", "pier", "port"]
    assert [each.name for each in archive(service)[0]] == names
    for limit in (1, 2, 3):
        page, following = archive(service, limit=limit)
        assert [each.name for each in page] == names[:limit]
        assert (following is None) == (limit == 3)
        if following is not None:
            rest = archive(service, after=following)
            assert ([each.name for each in rest[0]], rest[1]) == (names[limit:], None)
    with writing(service.engine) as connection:
        connection.execute(delete(Phase).where(Phase.campaign_id == first.campaign_id))
    assert [each.name for each in archive(service)[0]] == ["quay", "pier"]
