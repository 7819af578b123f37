"""A system with all that it scores over the test sets of a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.leaderboards.choice import find_metric, read_choices
from campaigns.leaderboards.names import display_name
from campaigns.leaderboards.snapshot import read_board_versions
from campaigns.leaderboards.view import BoardQuery
from steelyard_client.documents.document import utc
from steelyard_client.documents.submissions.systems import SystemOnTestSet, SystemResponse, SystemScore
from steelyard_client.vocabulary import SystemFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import Connection

    from campaigns.leaderboards.choice import BoardChoice
    from campaigns.leaderboards.view import Boards, BoardView
    from campaigns.permissions import CampaignAccess
    from campaigns.systems.listing import SystemView
    from steelyard_client.documents.leaderboards.human_rankings import HumanPlace


def system_document(seen: SystemView) -> SystemResponse:
    """The document of a system."""
    return SystemResponse(
        id=seen.id,
        team=seen.team,
        system=seen.system,
        own=seen.own,
        submissions=seen.submissions,
        first_at=utc(seen.first_at),
        last_at=utc(seen.last_at),
        origin=seen.origin,
        description=seen.description,
        affiliation=seen.affiliation,
        paper_url=seen.paper_url,
        url=seen.url,
        parameters=seen.parameters,
        weights=seen.weights,
        constrained=seen.constrained,
    )


def read_scores_of_system(
    connection: Connection,
    boards: Boards,
    access: CampaignAccess,
    system: int,
    human_places: Callable[[int], Mapping[int, HumanPlace] | None] = lambda _: None,
) -> list[SystemOnTestSet]:
    """Return what a visible system scores on each leaderboard that it is on; nothing while these are hidden.

    `human_places` gives the places of submissions of a test set that people rank officially, or None.
    """
    if not access.sees_board:
        return []
    used = [each for each in read_choices(connection, access) if not each.superseded and not each.replaced]
    versions = read_board_versions(connection, access.campaign_id, [each.listed.protocol_id for each in used])
    found = []
    for choice in sorted(used, key=lambda each: (each.name, each.version, -len(each.listed.references))):
        query = BoardQuery(find_metric(choice.listed, "", access.ranked_by), SystemFilter.ALL)
        view = boards.view(connection, choice.listed, query, versions[choice.listed.protocol_id])
        for row, line in enumerate(view.lines):
            if line.entry.system_id == system:
                place = (human_places(choice.id) or {}).get(line.entry.submission)
                found.append(_on_board(access, choice, view, row, place))
    return found


def _on_board(
    access: CampaignAccess, choice: BoardChoice, view: BoardView, row: int, human: HumanPlace | None
) -> SystemOnTestSet:
    line = view.lines[row]
    entry, place = line.entry, line.place
    return SystemOnTestSet(
        test_set=choice.name,
        version=choice.version,
        references=list(choice.listed.references),
        board=choice.listed.protocol_id,
        submission=entry.submission,
        name=display_name(access, entry).title,
        output=access.sees_output(entry.team, entry.kind, ranked=entry.ranked),
        ranked=entry.ranked,
        ranked_by=choice.listed.metrics[view.query.metric],
        rank=line.rank,
        rank_low=place.low if place else None,
        rank_high=place.high if place else None,
        cluster=place.cluster if place else None,
        of=sum(each.rank is not None for each in view.lines),
        human=human,
        row=sum(each.entry.ranked for each in view.lines[:row]) if entry.ranked else row,
        scores=[
            SystemScore(
                metric=metric,
                title=title,
                score=score.score,
                low=score.interval[0] if score.interval else None,
                high=score.interval[1] if score.interval else None,
            )
            for metric, title, score in zip(choice.listed.metrics, view.titles, entry.scores, strict=False)
        ],
    )
