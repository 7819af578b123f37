"""Lists that come in pages: `limit` and `after` in the request, `items` and `next` in the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field

from campaigns.errors import BadRequest

Item = TypeVar("Item")
Row = TypeVar("Row")

Limit = Annotated[int, Query(ge=1, le=200, description="How many items at most.")]
"""A parameter `limit: Limit = 50`."""
After = Annotated[str, Query(max_length=40, description='The "next" of the page before; nothing for the first page.')]
"""A parameter `after: After = ""`."""

LARGEST_ID = 2**63 - 1


class Paged(BaseModel, Generic[Item]):
    """A page of a list."""

    items: list[Item]
    next: str | None = Field(description='What to send as "after" for the next page; null on the last.')


def id_after(after: str) -> int | None:
    """The id that a cursor names. Raises BadRequest for what is no cursor of ours."""
    if not after:
        return None
    if not (after.isascii() and after.isdigit() and int(after) <= LARGEST_ID):
        raise BadRequest(f'after={after!r} is not the "next" of a page. Leave it out to begin with the first.')
    return int(after)


def in_pages(
    rows: Sequence[Row], limit: int, shape: Callable[[Row], Any], key: Callable[[Row], int] = attrgetter("id")
) -> dict[str, Any]:
    """The page of rows of which one more than `limit` was asked for: where it is there, there is a next page."""
    shown = rows[:limit]
    more = len(rows) > limit
    return {"items": [shape(row) for row in shown], "next": str(key(shown[-1])) if more else None}


def part_of(items: Sequence[Row], limit: int, after: str) -> tuple[Sequence[Row], str | None]:
    """The page of a list that is short enough to be read as a whole, and where the next one begins.

    Raises BadRequest for what is no cursor of ours.
    """
    begin = id_after(after) or 0
    end = begin + limit
    return items[begin:end], str(end) if end < len(items) else None
