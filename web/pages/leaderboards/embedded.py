"""The leaderboard of a campaign for frames of other sites, where the campaign allows it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from campaigns.accounts.principal import NOBODY
from campaigns.errors import NotFound
from campaigns.leaderboards.choice import find_choice, find_metric, read_choices
from campaigns.leaderboards.view import BoardQuery
from campaigns.permissions import read_access
from models.database.session import reading
from web.content_policy import EMBEDDABLE
from web.dependencies import app_state
from web.pages.leaderboards.human_cells import human_column
from web.pages.leaderboards.leaderboard import Links, board_table
from web.pages.rendering import bare

router = APIRouter()

MOST = 50
"""Systems in a frame; the leaderboard has all."""


@router.get("/campaigns/{name}/embed")
def show_embedded(
    request: Request,
    name: str,
    test_set: str = "",
    references: str = "",
    metric: str = "",
    board: Annotated[int | None, Query(ge=1)] = None,
) -> Response:
    """Show the leaderboard as everybody may see it: who is signed in here must not be shown more by another site.

    Raises
    ------
    NotFound
        If the campaign does not allow it, or everybody does not see its leaderboard.
    """
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, NOBODY, name)
        choices = read_choices(connection, access) if access.embeddable and access.sees_board else []
        if not choices:
            raise NotFound("There is no leaderboard here that other sites may embed.")
        choice = find_choice(choices, test_set, references, board)
        ranked = find_metric(choice.listed, metric, access.ranked_by)
        view = state.boards.view(connection, choice.listed, BoardQuery(ranked))
        people = human_column(connection, access, choice.id, state.boards.memory)
    links = Links(name, choice, view)
    table, _ = board_table(
        state.boards.memory,
        view,
        access,
        choice,
        links,
        most=MOST,
        columns=(view.query.metric,),
        brief=True,
        people=people,
    )
    values = {"access": access, "choice": choice, "view": view, "table": table, "links": links, "most": MOST}
    values["by_people"] = people is not None and people.ranks(view)
    return bare("leaderboards/embedded", headers=EMBEDDABLE, **values)
