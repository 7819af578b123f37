"""The matrix of a campaign: its systems over all of its test sets."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response

from campaigns.errors import NotFound
from campaigns.human_ranking.documents import official_places
from campaigns.leaderboards.choice import read_choices
from campaigns.leaderboards.matrix import AUTORANK, GAPS, MEAN_RANK, SYSTEM, CampaignMatrix, MatrixQuery, read_matrix
from campaigns.leaderboards.names import display_name, system_id_of
from campaigns.permissions import CampaignAccess, read_access
from models.database.session import reading
from steelyard.tables.formatting import digits
from steelyard_client.vocabulary import RANKED, Constrained, SystemFilter
from web.api.leaderboards.matrix import MatrixFilters
from web.dependencies import CurrentPrincipal, app_state
from web.etags import etag_of, not_modified
from web.pages.leaderboards.table import ORGANISERS, SHARED, marks_of_system
from web.pages.rendering import page, part_of_address

if TYPE_CHECKING:
    from campaigns.leaderboards.snapshot import BoardEntry

router = APIRouter()


@router.get("/campaigns/{name}/matrix")
def show_matrix(
    request: Request, name: str, principal: CurrentPrincipal, filters: Annotated[MatrixFilters, Depends()]
) -> Response:
    """Show scores and ranks of all systems on all test sets, by one metric."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        choices = read_choices(connection, access) if access.sees_board else []
        if not choices:
            return page(request, "leaderboards/leaderboard_hidden", title="Matrix", access=access, here="matrix")
        human = official_places(connection, access, state.boards.memory)
        try:
            matrix = read_matrix(connection, state.boards, access, choices, filters.query, human)
        except NotFound:
            if not filters.query.metric or filters.query.only:
                raise
            # The form sends along the metric of the test sets that were shown before.
            matrix = read_matrix(connection, state.boards, access, choices, MatrixQuery(), human)
    links = MatrixLinks(name, filters.query)
    document = matrix.document
    described = {row.name: _described(access, matrix.entries[row.name]) for row in document.systems}
    tracks = {each.constrained for each in described.values()}
    shared = []
    if len(described) > 1 and len(tracks) == 1 and None not in tracks:
        shared.append("constrained" if True in tracks else "unconstrained")
    if len(described) > 1 and all(each.marks == [(ORGANISERS, "")] for each in described.values()):
        shared.append(ORGANISERS)
        described = {key: replace(each, marks=()) for key, each in described.items()}
    answer = page(
        request,
        "leaderboards/matrix",
        title="Matrix",
        access=access,
        here="matrix",
        document=document,
        described=described,
        tracks=len(tracks) > 1,
        shared=" ".join(SHARED[each] for each in shared),
        remarks=any(each.marks for each in described.values()),
        names=_short_names([row.name for row in document.systems]),
        columns=[(each, links.board(matrix, place)) for place, each in enumerate(document.test_sets)],
        places=digits(math.inf if document.scale is None else document.scale),
        ranges=any(cell and cell.rank_low is not None for row in document.systems for cell in row.cells),
        autoranks=any(row.autorank is not None for row in document.systems),
        testing=sum(each.testing for each in document.test_sets),
        links=links,
        metrics=matrix.metrics,
        metric=matrix.metric,
        only=",".join(filters.query.only),
        complete=filters.query.complete,
        test_sets=list(dict.fromkeys(each.name for each in choices if not each.superseded and not each.replaced)),
        chosen=filters.query.only,
        ranking_rule=RANKED,
        sorts=[
            (MEAN_RANK, "mean rank"),
            *([(AUTORANK, "AutoRank")] if any(row.autorank is not None for row in document.systems) else []),
            (SYSTEM, "name"),
            (GAPS, "gaps"),
            *((each.test_set, each.test_set) for each in matrix.choices),
        ],
        shown_options=[(SystemFilter.RANKED, "ranked only"), (SystemFilter.ALL, "all systems")],
        constrained_options=[
            (Constrained.ANY, "all"),
            (Constrained.YES, "constrained"),
            (Constrained.NO, "not constrained"),
        ],
    )
    tag = etag_of(bytes(answer.body))
    if known := not_modified(request, tag):
        return known
    answer.headers["ETag"] = tag
    return answer


@dataclass(frozen=True, slots=True)
class DescribedSystem:
    """What the matrix says of a system beside its scores."""

    system: int | None
    """The number of the page that its name links to; None for none."""
    marks: Sequence[tuple[str, str]]
    """Labels, each with its kind of badge."""
    constrained: bool | None
    """None where nobody has said, and where what is said of its submissions differs."""


def _described(access: CampaignAccess, entries: Sequence[BoardEntry]) -> DescribedSystem:
    entry = entries[0]
    name = display_name(access, entry)
    said = {each.constrained for each in entries} - {None}
    constrained = said.pop() if len(said) == 1 else None
    return DescribedSystem(system_id_of(access, entry), marks_of_system(entry, name), constrained)


def _short_names(names: Sequence[str]) -> dict[str, str]:
    """Return what is shown of each name: the system alone, without its team, where that tells it from the others."""
    alone = Counter(each.rpartition("/")[2] for each in names)
    return {each: short if alone[short := each.rpartition("/")[2]] == 1 else each for each in names}


class MatrixLinks:
    """Links of a matrix. Each contains the complete state of the page."""

    def __init__(self, campaign: str, query: MatrixQuery) -> None:
        self.campaign = f"/campaigns/{part_of_address(campaign)}"
        self.query: dict[str, Any] = {"metric": query.metric, "sort": query.sort, "only": list(query.only)}
        if query.shown is not SystemFilter.RANKED:
            self.query["shown"] = query.shown.value
        if query.constrained is not Constrained.ANY:
            self.query["constrained"] = query.constrained.value
        if query.complete:
            self.query["complete"] = "true"

    def matrix(self, **changes: object) -> str:
        """The matrix with other wishes."""
        return f"{self.campaign}/matrix?{self._written(changes)}"

    def download(self, form: str) -> str:
        """The matrix as a file."""
        return f"/api/v1{self.campaign}/matrix?{self._written({'format': form})}"

    def board(self, matrix: CampaignMatrix, column: int) -> str:
        """The leaderboard of a column."""
        choice, view = matrix.choices[column], matrix.views[column]
        query = {
            "test_set": choice.test_set_key,
            "references": choice.references,
            "metric": choice.listed.metrics[view.query.metric],
        }
        return f"{self.campaign}/leaderboard?{urlencode(query)}"

    def _written(self, changes: dict[str, object]) -> str:
        return urlencode({key: value for key, value in {**self.query, **changes}.items() if value}, doseq=True)
