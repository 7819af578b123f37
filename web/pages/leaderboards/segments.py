"""Segments of a test set with their outputs side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from campaigns.errors import BadRequest
from campaigns.inspection.best_pair import best_pair
from campaigns.inspection.segments import MAX_CONTEXT, MAX_OUTPUTS, SegmentQuery, read_segments
from campaigns.inspection.visible import NoTestSet
from campaigns.permissions import read_access
from models.database.session import reading
from steelyard.tables.formatting import digits
from steelyard_client.vocabulary import Order
from web.dependencies import IN_TURN, CurrentPrincipal, app_state
from web.pages.leaderboards.segment_views import MOST_LISTED, proposed_outputs, segment_views
from web.pages.rendering import page, part_of_address

router = APIRouter()

PAGE = 20
CONTEXTS = ((0, "none"), (3, "3 segments before and after"), (MAX_CONTEXT, "the whole document"))
"""How much of a document may be shown around a segment."""
ORDERS = (
    (Order.NUMBER, "test set order"),
    (Order.DIFFERENCE, "largest difference"),
    (Order.FIRST_BETTER, "first system better"),
    (Order.SECOND_BETTER, "second system better"),
    (Order.WORST, "worst first"),
    (Order.BEST, "best first"),
)


@router.get("/campaigns/{name}/segments", dependencies=[IN_TURN])
def show_segments(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    system: Annotated[list[str] | None, Query()] = None,
    test_set: str = "",
    metric: str = "",
    references: str = "",
    order: str = "",
    document: str = "",
    domain: str = "",
    test_suite: str = "",
    shortest: str = "",
    longest: str = "",
    text: str = "",
    segment: str = "",
    context: str = "",
    marks: str = "",
    first: str = "",
) -> Response:
    """Show a page of segments, or one segment."""
    if order not in {"", *Order}:
        raise BadRequest(f"Unknown order {order[:50]!r}. Use one of: {', '.join(Order)}.")
    fresh = not order and not system and not segment
    query = SegmentQuery(
        test_set=test_set,
        metric=metric,
        references=references,
        systems=[each for each in system or () if each],
        order=Order(order or Order.NUMBER),
        document=document,
        domain=domain,
        test_suite=test_suite,
        shortest=_whole(shortest, "The minimum length"),
        longest=_whole(longest, "The maximum length"),
        text=text.strip(),
        segment=_whole(segment, "The segment number"),
        context=min(_whole(context, "The context") or 0, MAX_CONTEXT),
        human=marks,
    )
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        if fresh and (pair := best_pair(connection, state.boards, access, test_set)):
            # A page that nobody has chosen anything on opens on what tells most.
            query = replace(query, systems=pair, order=Order.DIFFERENCE)
        try:
            # A segment is shown with all of the context that was asked for.
            most = PAGE if query.segment is None else 2 * MAX_CONTEXT + 1
            view = read_segments(connection, access, query, _whole(first, "The first segment") or 0, most)
        except NoTestSet as error:
            return page(
                request, "campaigns/no_test_set", title="Segments", access=access, here="segments", why=str(error)
            )
    own = {key: value for key, value in request.query_params.multi_items() if value and key != "system"}
    if query.order is not Order.NUMBER:
        own["order"] = query.order.value
    chosen = [("system", str(each.submission)) for each in view.chosen]
    address = f"/campaigns/{part_of_address(name)}/segments"

    def link(**changes: object) -> str:
        """Return this page with some parameters changed; None removes one."""
        parts = own | {key: str(value) for key, value in changes.items()}
        kept = [(key, value) for key, value in parts.items() if changes.get(key, "") is not None]
        return f"{address}?{urlencode([*kept, *chosen])}"

    filtered = [document, domain, test_suite, shortest, longest]
    return page(
        request,
        "leaderboards/segments",
        title="Segments",
        access=access,
        here="segments",
        view=view,
        query=query,
        orders=ORDERS,
        link=link,
        address=address,
        kept=[(key, value) for key, value in [*own.items(), *chosen] if key not in ("segment", "first", "context")],
        narrowed=sum(map(bool, filtered)),
        everything=not (any(filtered) or query.text or query.segment),
        most_outputs=MAX_OUTPUTS,
        most_listed=MOST_LISTED,
        outputs_by_name=proposed_outputs(view.outputs),
        contexts=CONTEXTS,
        views=segment_views(
            access,
            view.test_set.id,
            {
                "test_set": f"{view.test_set.name}@{view.test_set.version}",
                "metric": view.measure.specification if view.measure else "",
                "references": ",".join(view.measure.references) if view.measure else "",
            },
            [each.submission for each in view.chosen],
        ),
        places=digits(view.measure.scale) if view.measure else 1,
        page_size=PAGE,
    )


def _whole(text: str, what: str) -> int | None:
    """Parse a number of a form; None if empty."""
    if not text.strip():
        return None
    if not text.strip().isascii() or not text.strip().isdigit() or len(text) > 9:
        raise BadRequest(f"{what} must be a whole number, not {text[:50]!r}.")
    return int(text)
