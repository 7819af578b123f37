"""The matrix of a campaign: its systems over all of its test sets, also as files."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from campaigns.human_ranking.documents import official_places
from campaigns.leaderboards.choice import read_choices, require_board
from campaigns.leaderboards.matrix import COLUMNS, MEAN_RANK, MatrixQuery, read_matrix
from campaigns.permissions import read_access
from models.database.session import reading
from steelyard.tables.delimited import as_csv, as_tsv
from steelyard.tables.latex import as_latex
from steelyard_client.documents.leaderboards.matrices import MatrixResponse
from steelyard_client.vocabulary import Constrained, SystemFilter
from web.api.leaderboards.leaderboards import FILES, TEXT, BoardFormat
from web.dependencies import CurrentPrincipal, app_state
from web.etags import NOT_MODIFIED, etag_of, not_modified

router = APIRouter(tags=["leaderboards"])


class MatrixFilters:
    """Query parameters that select test sets, systems and their order."""

    def __init__(
        self,
        metric: Annotated[
            str, Query(max_length=500, description="The ranking metric; human for people, where they rank officially.")
        ] = "",
        shown: Annotated[
            SystemFilter, Query(description="ranked: one system per team; all: unranked systems, too.")
        ] = SystemFilter.RANKED,
        constrained: Annotated[Constrained, Query(description="yes, no, or empty for all systems.")] = Constrained.ANY,
        sort: Annotated[
            str, Query(max_length=300, description="mean_rank, autorank, system, gaps, or the name of a test set.")
        ] = MEAN_RANK,
        only: Annotated[
            list[str] | None, Query(max_length=500, description="Only these test sets; may be repeated.")
        ] = None,
        complete: Annotated[bool, Query(description="Leave out systems that lack a test set.")] = False,
    ) -> None:
        self.query = MatrixQuery(
            metric=metric,
            shown=shown,
            constrained=constrained,
            sort=sort or MEAN_RANK,
            only=tuple(each for each in only or () if each),
            complete=complete,
        )


@router.get(
    "/campaigns/{name}/matrix",
    response_model=MatrixResponse,
    responses={200: {"content": {kind: TEXT for _, kind in FILES.values()}}, **NOT_MODIFIED},
)
def read_campaign_matrix(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    filters: Annotated[MatrixFilters, Depends()],
    form: Annotated[BoardFormat, Query(alias="format", description="JSON, or a file.")] = BoardFormat.JSON,
) -> Response:
    """Read the systems of a campaign over all of its test sets, by one metric.

    Of each test set the leaderboard against the most references counts. A system that was not submitted for a test set
    has a gap there, never a score of 0; the mean rank is over the test sets where it is ranked, and systems without
    gaps come first. CSV and TSV have a row for each system and test set; LaTeX has tables in booktabs style.
    """
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        require_board(access)
        choices, human = read_choices(connection, access), official_places(connection, access, state.boards.memory)
        matrix = read_matrix(connection, state.boards, access, choices, filters.query, human)
    if form in FILES:
        ending, kind = FILES[form]
        if form is BoardFormat.LATEX:
            file = "\n".join(as_latex(table) for table in matrix.tables())
        else:
            file = (as_csv if form is BoardFormat.CSV else as_tsv)(COLUMNS, matrix.rows())
        media = f"{kind}; charset=utf-8"
        headers = {"Content-Disposition": f'attachment; filename="matrix{ending}"'}
    else:
        file, media, headers = matrix.document.model_dump_json(), "application/json", {}
    tag = etag_of(file.encode())
    if known := not_modified(request, tag):
        return known
    return Response(file, media_type=media, headers={**headers, "ETag": tag})
