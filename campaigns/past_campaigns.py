"""The archive: campaigns whose results are published, with their years, language pairs and winners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.human_ranking.documents import places_of_submissions
from campaigns.human_ranking.official import read_official
from campaigns.leaderboards.choice import BoardChoice, find_metric, read_choices
from campaigns.leaderboards.names import display_name
from campaigns.leaderboards.snapshot import read_board_versions
from campaigns.leaderboards.view import BoardQuery
from campaigns.overviews import overviews
from campaigns.permissions import UnreadableCampaign, visible_campaigns
from campaigns.systems.citations import campaign_year
from steelyard_client.documents.campaigns.past_campaigns import PastCampaign, Winners

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.accounts.principal import Principal
    from campaigns.leaderboards.view import Boards
    from campaigns.permissions import CampaignAccess


def list_past_campaigns(
    connection: Connection, boards: Boards, principal: Principal, *, limit: int, after: int | None = None
) -> tuple[list[PastCampaign], int | None]:
    """Return visible campaigns with published results, newest first, and what the next page comes after."""
    odd: list[UnreadableCampaign] = []
    visible = visible_campaigns(connection, principal, before=after, unreadable=odd)
    published = [each for each in visible if each.published]
    shown = published[:limit]
    told = overviews(connection, shown)
    found = [
        PastCampaign(
            name=access.name,
            title=access.title,
            year=campaign_year(access),
            pairs=[f"{source or '?'}-{target or '?'}" for source, target in overview.pairs],
            segments=overview.segments,
            teams=len(access.teams),
            winners=_winners(connection, boards, access),
        )
        for access, overview in zip(shown, told, strict=True)
    ]
    return found, shown[-1].campaign_id if len(published) > limit else None


def _winners(connection: Connection, boards: Boards, access: CampaignAccess) -> list[Winners]:
    """Return the winners on each test set, best first: by people where they rank officially, or else by the metric."""
    first: dict[int, BoardChoice] = {}
    for each in read_choices(connection, access):
        if not each.superseded and not each.replaced:
            first.setdefault(each.id, each)
    versions = read_board_versions(connection, access.campaign_id, [each.listed.protocol_id for each in first.values()])
    found = []
    for choice in sorted(first.values(), key=lambda each: (each.name, each.version)):
        metric = find_metric(choice.listed, "", access.ranked_by)
        view = boards.view(connection, choice.listed, BoardQuery(metric), versions[choice.listed.protocol_id])
        entries = {line.entry.submission: line.entry for line in view.lines}
        best = [line.entry for line in view.lines if (line.place.cluster if line.place else line.rank) == 1]
        by = view.titles[metric].removesuffix(" ↓")
        official = read_official(connection, access, choice.id, boards.memory)
        if official is not None:
            places = places_of_submissions(connection, access, choice.id, official)
            judged = {number: place for number, place in places.items() if number in entries}
            if judged:
                top = min(place.cluster for place in judged.values())
                first_ones = [number for number, place in judged.items() if place.cluster == top]
                best = [entries[number] for number in sorted(first_ones, key=lambda each: judged[each].rank)]
                by = official.rule
        if best:
            names = [display_name(access, each).title for each in best]
            found.append(Winners(test_set=choice.test_set, ranked_by=by, systems=names))
    return found
