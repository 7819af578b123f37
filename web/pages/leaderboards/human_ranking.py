"""The official ranking of a test set by human judgments."""

from __future__ import annotations

from itertools import groupby

from fastapi import APIRouter, Request, Response

from campaigns.human_ranking.documents import ranking_document
from campaigns.human_ranking.official import read_official
from campaigns.inspection.visible import NoTestSet, find_test_set, visible_test_sets
from campaigns.leaderboards.choice import require_board
from campaigns.permissions import read_access
from models.database.session import reading
from web.dependencies import CurrentPrincipal, app_state
from web.pages.leaderboards.human_cells import human_cells
from web.pages.rendering import page

router = APIRouter()


@router.get("/campaigns/{name}/human-ranking")
def show_human_ranking(request: Request, name: str, principal: CurrentPrincipal, test_set: str = "") -> Response:
    """Show all judged systems, human translations included, with rank ranges and clusters."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        require_board(access)
        test_sets = visible_test_sets(connection, access)
        try:
            chosen = find_test_set(test_sets, test_set)
        except NoTestSet as none:
            return page(
                request,
                "campaigns/no_test_set",
                title="Human ranking",
                access=access,
                here="leaderboard",
                why=str(none),
            )
        official = read_official(connection, access, chosen.id, state.boards.memory)
        shown = ranking_document(connection, access, chosen, official)
    cells, axis = human_cells([each.human for each in shown.systems])
    rows = list(zip(shown.systems, cells, strict=True))
    return page(
        request,
        "leaderboards/human_ranking",
        title="Human ranking",
        access=access,
        here="leaderboard",
        test_sets=[(each.title, each.title) for each in test_sets],
        chosen=chosen,
        shown=shown,
        clusters=[list(each) for _, each in groupby(rows, key=lambda row: row[0].human.cluster)],
        axis=axis,
    )
