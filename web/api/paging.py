"""Paginated lists: `limit` and `after` in the request, `items` and `next` in the response."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Annotated, Any, TypeVar

from fastapi import Query

from campaigns.errors import BadRequest

Row = TypeVar("Row")

Limit = Annotated[int, Query(ge=1, le=200, description="Maximum number of items.")]
"""A parameter `limit: Limit = 50`."""
After = Annotated[str, Query(max_length=40, description='The "next" of the previous page; empty for the first page.')]
"""A parameter `after: After = ""`."""

LARGEST_ID = 2**63 - 1


def parse_cursor(after: str) -> int | None:
    """The id in a cursor; None for an empty one. Raises BadRequest for an invalid cursor."""
    if not after:
        return None
    if not (after.isascii() and after.isdigit() and int(after) <= LARGEST_ID):
        raise BadRequest(f'after={after!r} is not the "next" of a page. Leave it out for the first page.')
    return int(after)


def make_page(
    rows: Sequence[Row], limit: int, shape: Callable[[Row], Any], key: Callable[[Row], int] = attrgetter("id")
) -> dict[str, Any]:
    """A page from rows that were queried with a limit of `limit + 1`: an extra row means that there is a next page."""
    shown = rows[:limit]
    more = len(rows) > limit
    return {"items": [shape(row) for row in shown], "next": str(key(shown[-1])) if more else None}


def slice_page(items: Sequence[Row], limit: int, after: str) -> tuple[Sequence[Row], str | None]:
    """A page of a list that is held in memory, and the cursor of the next page; None on the last.

    Raises BadRequest for an invalid cursor.
    """
    begin = parse_cursor(after) or 0
    end = begin + limit
    return items[begin:end], str(end) if end < len(items) else None
