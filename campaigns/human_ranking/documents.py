"""Documents of official rankings by human judgments, with the names that may be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.human_ranking.official import read_official, shown_without_submission, submissions_of_judged
from campaigns.visibility import read_visible_submissions
from models.schema.corpus import Submission
from steelyard_client.documents.leaderboards.human_rankings import (
    HumanInterval,
    HumanPlace,
    HumanRankedSystem,
    HumanRankingResponse,
    HumanRule,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import Connection

    from analysis.meta_evaluation.human_ranking import HumanRanking
    from campaigns.inspection.visible import VisibleTestSet
    from campaigns.leaderboards.cache import LeaderboardCache
    from campaigns.permissions import CampaignAccess


def rule_document(official: HumanRanking) -> HumanRule:
    """Return how a test set is ranked."""
    return HumanRule(
        rule=official.rule,
        judgments=official.judgments.title,
        fault=official.fault or None,
        notices=list(official.board.notices) if official.board else [],
    )


def place_documents(official: HumanRanking) -> dict[str, HumanPlace]:
    """Return the place of each system, by the name that judgments have for it."""
    ranks = official.ranks
    found = {}
    for name, each in official.systems.items():
        interval = official.intervals.get(name)
        found[name] = HumanPlace(
            score=each.score,
            interval=interval
            and HumanInterval(level=official.level, low=interval[0], high=interval[1], n=official.replicates),
            rank=ranks[name],
            rank_low=each.rank_low,
            rank_high=each.rank_high,
            wins=each.wins,
            losses=each.losses,
            cluster=each.cluster,
            n=each.n,
        )
    return found


def places_of_submissions(
    connection: Connection, access: CampaignAccess, test_set_id: int, official: HumanRanking
) -> Mapping[int, HumanPlace]:
    """Return the place of each submission of a judged system."""
    places = place_documents(official)
    submissions = submissions_of_judged(connection, access.campaign_id, test_set_id)
    return {each: places[name] for name, numbers in submissions.items() if name in places for each in numbers}


def official_places(
    connection: Connection, access: CampaignAccess, memory: LeaderboardCache
) -> Callable[[int], Mapping[int, HumanPlace] | None]:
    """Return what gives the places of the submissions of a test set; None where people do not rank it officially."""

    def places(test_set_id: int) -> Mapping[int, HumanPlace] | None:
        official = read_official(connection, access, test_set_id, memory)
        return None if official is None else places_of_submissions(connection, access, test_set_id, official)

    return places


def ranking_document(
    connection: Connection, access: CampaignAccess, test_set: VisibleTestSet, official: HumanRanking | None
) -> HumanRankingResponse:
    """Return the ranking; systems without a submission only to those who may see all names, but human translations."""
    systems = []
    hidden = 0
    if official is not None:
        submissions = submissions_of_judged(connection, access.campaign_id, test_set.id)
        shown = {
            each.id: "/".join(part for part in (each.team if each.real_team else "", each.system) if part)
            for each in read_visible_submissions(connection, access, Submission.test_set_id == test_set.id)
        }
        for name, place in place_documents(official).items():
            own = [each for each in submissions.get(name, ()) if each in shown]
            if own:
                systems.append(HumanRankedSystem(name=shown[own[-1]], submission=own[-1], human=place))
            elif access.sees_names or shown_without_submission(name):
                systems.append(HumanRankedSystem(name=name, submission=None, human=place))
            else:
                hidden += 1
    return HumanRankingResponse(
        campaign=access.name,
        test_set=test_set.title,
        official=None if official is None else rule_document(official),
        hidden=hidden,
        systems=systems,
    )
