"""The overview of a campaign, joining it, and the corrections of its references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Request, Response

from campaigns.corrections.comparison import compare_correction
from campaigns.corrections.corrections import count_open_evaluations, find_correction, list_corrections
from campaigns.errors import Forbidden, NotSignedIn
from campaigns.leaderboards.choice import BoardChoice, find_metric, read_choices
from campaigns.leaderboards.names import DisplayName, display_name
from campaigns.leaderboards.view import BoardQuery, Boards, BoardView
from campaigns.notices.listing import list_announcements
from campaigns.overviews import overviews
from campaigns.participants import join_with_team, leave_with_team
from campaigns.permissions import CampaignAccess, read_access
from campaigns.setup import setup_steps
from campaigns.systems.citations import cite_campaign
from campaigns.test_sets.stored import list_campaign_test_sets
from models.corpus.phases import deadline_at, next_phase
from models.database.session import reading, writing
from models.schema.roles import Joining, PhaseKind, TeamRole
from runtime.service_settings import site_url
from steelyard_client.vocabulary import RANKED
from web.dependencies import CurrentPrincipal, app_state
from web.pages.leaderboards.human_cells import HumanColumn, human_column
from web.pages.leaderboards.leaderboard import Links, board_table
from web.pages.markdown import lead_and_rest
from web.pages.rendering import page, part_of_address, see_other
from web.pages.share import picture_address

if TYPE_CHECKING:
    from markupsafe import Markup
    from sqlalchemy import Connection

router = APIRouter()

ANNOUNCEMENTS = 5
RESULTS = 20
"""Systems shown on the page of a campaign; its leaderboard has all."""

PHASE_DESCRIPTIONS = {
    PhaseKind.OPEN: "Teams submit and see all scores.",
    PhaseKind.BLIND: "Teams submit and do not see each other's scores.",
    PhaseKind.CLOSED: "No submissions.",
    PhaseKind.PUBLISHED: "The results are published.",
}


@router.get("/campaigns/{name}")
def show_campaign(request: Request, name: str, principal: CurrentPrincipal) -> Response:
    """Show the overview of a campaign."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        test_sets = list_campaign_test_sets(connection, access)
        corrections = list_corrections(connection, access)
        results = _results(connection, state.boards, access, name) if access.published else None
        (overview,) = overviews(connection, [access])
        announcements = list_announcements(connection, access, limit=ANNOUNCEMENTS)
    return page(
        request,
        "campaigns/campaign",
        title=access.title,
        access=access,
        here="",
        phases=[(each, access.phase_status(each), PHASE_DESCRIPTIONS[each.kind]) for each in access.phases],
        current=access.phase,
        steps=setup_steps(access),
        coming=next_phase(access.phases, access.at),
        deadline=deadline_at(access.phases, access.at),
        test_sets=[each for each in test_sets if each.replaced_by is None],
        corrections=corrections,
        announcements=announcements,
        results=results,
        most_results=RESULTS,
        overview=overview,
        citation=cite_campaign(access, site_url(state.settings)).strip() if results else "",
        teams=sorted((access.name_of(each) for each in access.teams), key=_natural),
        joinable=[(each, each) for each in _joinable(access)],
        picture=picture_address(request, access, f"/campaigns/{part_of_address(name)}"),
        description=lead_and_rest(access.description),
    )


@dataclass(frozen=True, slots=True)
class Results:
    """What a campaign leads with once its results are published: the ranking that counts."""

    choice: BoardChoice
    view: BoardView
    links: Links
    table: Markup
    shared: Sequence[str]
    best: Sequence[DisplayName]
    """The systems of the first cluster, or those of rank 1 where there are no clusters."""
    people: HumanColumn | None
    """The official ranking by people, if there is one."""
    best_by_people: Sequence[DisplayName]
    """The systems of its first cluster that has some: human translations may be alone in the first one."""
    others: Sequence[tuple[str, str]]
    """Title and leaderboard of every other test set."""


def _results(connection: Connection, boards: Boards, access: CampaignAccess, name: str) -> Results | None:
    choices = read_choices(connection, access)
    if not choices:
        return None
    choice = choices[0]
    view = boards.view(connection, choice.listed, BoardQuery(find_metric(choice.listed, "", access.ranked_by)))
    links = Links(name, choice, view)
    people = human_column(connection, access, choice.id, boards.memory)
    columns = (view.query.metric,)
    table, shared = board_table(
        boards.memory, view, access, choice, links, most=RESULTS, columns=columns, brief=True, people=people
    )
    first = [line for line in view.lines if (line.place.cluster if line.place else line.rank) == 1]
    address = f"/campaigns/{part_of_address(name)}/leaderboard"
    test_sets = {each.test_set_key: each.test_set for each in choices if not each.superseded and not each.replaced}
    return Results(
        choice,
        view,
        links,
        table,
        shared,
        best=[display_name(access, line.entry) for line in first],
        people=people,
        best_by_people=_best_by_people(view, access, people),
        others=[
            (title, f"{address}?{urlencode({'test_set': key})}")
            for key, title in test_sets.items()
            if key != choice.test_set_key
        ],
    )


def _best_by_people(view: BoardView, access: CampaignAccess, people: HumanColumn | None) -> list[DisplayName]:
    clusters = {number: each.place.cluster for number, each in people.cells.items()} if people else {}
    entries = [line.entry for line in view.lines if line.entry.submission in clusters]
    first = min((clusters[each.submission] for each in entries), default=0)
    return [display_name(access, each) for each in entries if clusters[each.submission] == first]


@router.post("/campaigns/{name}/join")
def join_campaign(
    request: Request, name: str, principal: CurrentPrincipal, team: Annotated[str, Form(max_length=100)]
) -> Response:
    """Join the campaign with one of the user's teams."""
    with writing(app_state(request).engine) as connection:
        join_with_team(connection, principal, name, team)
    return see_other(f"/campaigns/{part_of_address(name)}")


@router.post("/campaigns/{name}/leave")
def leave_campaign(
    request: Request, name: str, principal: CurrentPrincipal, team: Annotated[str, Form(max_length=100)]
) -> Response:
    """Leave the campaign with one of the user's teams."""
    with writing(app_state(request).engine) as connection:
        leave_with_team(connection, principal, name, team)
    return see_other("/teams")


@router.get("/campaigns/{name}/corrections/{correction}")
def show_correction(request: Request, name: str, correction: int, principal: CurrentPrincipal) -> Response:
    """Show scores and ranks before and after a correction, side by side."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        info = find_correction(connection, access, correction)
        if not access.sees_board:
            if not principal.signed_in:
                raise NotSignedIn
            raise Forbidden("The scores of this campaign are hidden at the moment.")
        compared = compare_correction(connection, access, info)
        left = count_open_evaluations(connection, access.campaign_id, info.new_test_set_id)
    title = f"Corrected references of {info.test_set}"
    return page(
        request,
        "campaigns/correction",
        title=title,
        access=access,
        correction=info,
        compared=compared,
        left=left,
        ranking_rule=RANKED,
    )


def _joinable(access: CampaignAccess) -> list[str]:
    """Return the teams with which the account may join the campaign."""
    if access.joining != Joining.OPEN:
        return []
    return [team for team, role in access.principal.teams.items() if role == TeamRole.LEAD and team not in access.teams]


def _natural(name: str) -> tuple[str, int, str]:
    """Return a sort key that puts Team 7 before Team 12."""
    word, _, number = name.rpartition(" ")
    key: Any = (word.casefold(), int(number), "") if number.isascii() and number.isdigit() else (name.casefold(), 0, "")
    return (key[0], key[1], name)
