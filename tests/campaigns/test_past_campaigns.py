"""The archive: whose results are out, and who won on each test set."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from sqlalchemy import delete

from campaigns.accounts.principal import COMMAND_LINE, NOBODY
from campaigns.changes import lock_for_change
from campaigns.leaderboards.view import Boards
from campaigns.past_campaigns import list_past_campaigns
from campaigns.rules import Rules, set_rules
from models.database.session import reading, writing
from models.schema.campaigns import Phase
from models.schema.roles import PhaseKind
from scheduler.ingest.judgments import ingest_judgments
from steelyard.meta_evaluation.human.judgments import Judged, Judgment, SegmentScore, SystemScore
from steelyard_client.documents.campaigns.past_campaigns import PastCampaign
from tests.service.scored_campaigns import CONTRASTIVE, Scored
from tests.service.service import DAY, Service
from web.pages.campaigns import past


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
    links = re.findall(r'/port/leaderboard\?([^"]*)"><bdi>([^<]*)<', service.client().get("/archive").text)
    assert links == [(urlencode({"test_set": each}), each) for each in ("port", "port (version 2)")]
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


def test_the_page_has_the_newest_year_first_and_each_campaign_below_its_own(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, years in (("port", 0), ("pier", 3), ("quay", 1), ("mole", 3)):
        scored = Scored(service, name, replicates=0)
        scored.add("", "a", 10.0)
        service.campaign(name)
        service.phase(scored.campaign_id, "results", PhaseKind.PUBLISHED, begins=-366 * years * DAY)
    campaigns, _ = archive(service)
    of_year: dict[str, list[str]] = {}
    for each in sorted(campaigns, key=lambda each: -each.year):
        of_year.setdefault(str(each.year), []).append(each.name)
    assert [len(names) for names in of_year.values()] == [1, 1, 2]
    page = service.client().get("/archive").text
    shown = re.findall(r'<h2>(\d+)</h2>|<h3><a href="/campaigns/(\w+)">', page)
    assert ["".join(each) for each in shown] == [each for year, names in of_year.items() for each in (year, *names)]
    monkeypatch.setattr(past, "SHOWN", 3)
    first = service.client().get("/archive").text
    (following,) = re.findall(r'<a rel="next" href="([^"]*)"', first)
    second = service.client().get(following).text
    assert 'rel="next"' not in second
    parts = [re.findall(r'<h3><a href="/campaigns/(\w+)">', each) for each in (first, second)]
    assert [len(each) for each in parts] == [3, 1]
    assert sorted([*parts[0], *parts[1]]) == sorted(each.name for each in campaigns)


def test_winners_by_people_are_in_the_order_of_people(service: Service) -> None:
    """Three whom the judgments cannot tell apart, of which the one that came last is first."""
    scored = Scored(service)
    for system in ("tug", "raft", "oar"):
        scored.add("", system, 40.0)
    publish(scored)
    judgments = [
        Judgment("ann", system, segment, score)
        for system, score in (("tug", 60.0), ("raft", 62.0), ("oar", 64.0))
        for segment in (0, 1)
    ]
    systems = [SystemScore(name, 0.0, None, 2, 2) for name in ("tug", "raft", "oar")]
    segments = [SegmentScore(each.system, each.segment, each.value) for each in judgments]
    judged = Judged("ratings", {"standardised": False}, systems, segments, judgments)
    ingest_judgments(service.engine, scored.campaign_id, scored.test_set, "esa", judged)
    with writing(service.engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "port")
        set_rules(connection, access, Rules(human_rule="human", human_judgments="esa"))
    assert winners(service) == [("port", "human", ["oar", "raft", "tug"])]
