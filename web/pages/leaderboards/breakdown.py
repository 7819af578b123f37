"""Scores by document, by domain and by length."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import numpy as np
from fastapi import APIRouter, Depends, Query, Request, Response

from campaigns.errors import Forbidden, NotFound
from campaigns.leaderboards.breakdown import read_breakdown
from campaigns.leaderboards.choice import read_choices
from campaigns.leaderboards.names import short_names
from campaigns.leaderboards.view import BoardQuery
from campaigns.permissions import read_access
from campaigns.reports import limits
from campaigns.reports.breakdowns import groups_chart
from models.database.session import reading
from steelyard.tables.formatting import digits
from steelyard_client.vocabulary import RANKED, Average, Grouping, SystemFilter
from web.api.leaderboards.breakdown import BreakdownFilters
from web.api.leaderboards.leaderboards import BoardFilters
from web.dependencies import IN_TURN, CurrentPrincipal, app_state
from web.pages.leaderboards.leaderboard import closest_choice
from web.pages.leaderboards.segment_views import segment_views
from web.pages.rendering import page, part_of_address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markupsafe import Markup

    from steelyard_client.documents.leaderboards.breakdowns import BreakdownResponse

router = APIRouter()

PAGE = 100
"""Documents on one page."""
SYSTEMS = 12
"""Beside each other: of documents, where they are columns."""


@router.get("/campaigns/{name}/breakdown", dependencies=[IN_TURN])
def show_breakdown(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    filters: Annotated[BoardFilters, Depends()],
    parts: Annotated[BreakdownFilters, Depends()],
    first: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> Response:
    """Show systems by domains, or documents by the best systems."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        choices = read_choices(connection, access) if access.sees_board else []
        if not choices:
            return page(request, "leaderboards/leaderboard_hidden", title="Scores by part", access=access)
        choice, metric = closest_choice(choices, filters, access)
        view = state.boards.view(connection, choice.listed, BoardQuery(metric, filters.shown, filters.constrained))
        found, fault = None, ""
        try:
            found = read_breakdown(connection, state.boards.memory, access, view, parts.query)
        except (Forbidden, NotFound) as error:
            if parts.query.systems:
                raise
            fault = str(error)
    query = {
        "test_set": choice.test_set_key,
        "references": choice.references,
        "metric": choice.listed.metrics[metric],
        "by": parts.query.by.value,
        "average": parts.query.average.value,
        "shown": "" if filters.shown is SystemFilter.RANKED else filters.shown.value,
        "constrained": filters.constrained.value,
        "board": choice.listed.protocol_id if choice.behind else "",
        "system": list(parts.query.systems),
    }
    campaign = f"/campaigns/{part_of_address(name)}"

    def written(**changes: object) -> str:
        return urlencode({key: value for key, value in {**query, **changes}.items() if value}, doseq=True)

    by, by_document = parts.query.by, parts.query.by is Grouping.DOCUMENT
    names = short_names(access, (line.entry for line in view.lines))
    systems = found.systems[:SYSTEMS] if found and by_document else found.systems if found else []
    groups = list(enumerate(found.groups)) if found else []
    shown = groups[first : first + PAGE] if by_document else groups
    return page(
        request,
        "leaderboards/breakdown",
        title=f"Scores by {by}",
        access=access,
        here="segments",
        views=segment_views(access, choice.id, {key: str(query[key]) for key in ("test_set", "references", "metric")}),
        chart=_chart(found, names) if found and not by_document else "",
        found=found,
        fault=fault,
        by_document=by_document,
        systems=systems,
        names=names,
        groups=shown,
        first=first,
        last=first + len(shown),
        page_size=PAGE,
        places=digits(math.inf if found is None or found.scale is None else found.scale),
        link=lambda **changes: f"{campaign}/breakdown?{written(**changes)}",
        download=lambda form: f"/api/v1{campaign}/breakdown?{written(format=form)}",
        segments=lambda **changes: f"{campaign}/segments?{written(by='', average='', shown='', board='', **changes)}",
        board=f"{campaign}/leaderboard?{written(by='', average='', system='')}",
        metrics=[
            (key, title.removesuffix(" ↓")) for key, title in zip(choice.listed.metrics, view.titles, strict=True)
        ],
        metric=choice.listed.metrics[metric],
        test_sets=list({each.test_set_key: each.test_set for each in choices}.items()),
        test_set=choice.test_set_key,
        kept=[(each, query[each]) for each in ("references", "by", "shown", "constrained", "board") if query[each]],
        query=parts.query,
        ranking_rule=RANKED,
        averages=[(Average.MICRO, "the whole test set"), (Average.MACRO, "the mean of all groups")],
    )


def _chart(found: BreakdownResponse, names: Mapping[int, str]) -> Markup | str:
    """Return a chart of the best systems by group; "" where groups are too small for one."""
    shown = found.systems[: limits.LINES]
    scores = np.array([[math.nan if each is None else each for each in system.scores] for system in shown], np.float64)
    what = f"{found.unit} in the reference" if found.unit else found.by.value
    return groups_chart(
        [names.get(each.submission, each.name) for each in shown],
        scores.reshape(len(shown), len(found.groups)),
        [each.name for each in found.groups],
        [each.segments for each in found.groups],
        what,
        found.title,
        lines=found.by is Grouping.LENGTH,
    )
