"""Pages of lists: each item on one page, and the last page says so."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from campaigns.errors import BadRequest
from web.api.paging import LARGEST_ID, make_page, parse_cursor, slice_page


@pytest.mark.parametrize("amount", range(8))
@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_pages_hold_every_item_once_and_none_is_empty(amount: int, limit: int) -> None:
    items = [SimpleNamespace(id=100 + number) for number in range(amount)]
    pages, after = [], ""
    while True:
        page, following = slice_page(items, limit, after)
        pages.append(page)
        if following is None:
            break
        after = following
    assert [each for page in pages for each in page] == items
    assert all(len(page) == limit for page in pages[:-1])
    assert pages[-1] or not amount
    queried = items[: limit + 1]
    page = make_page(queried, limit, lambda each: each.id)
    assert page["items"] == [each.id for each in items[:limit]]
    assert page["next"] == (str(items[limit - 1].id) if amount > limit else None)


def test_a_cursor_is_an_id_that_the_database_can_hold() -> None:
    assert [parse_cursor(each) for each in ("", "0", "17", str(LARGEST_ID))] == [None, 0, 17, LARGEST_ID]
    for bad in ("-1", "1.5", "x", "٣", "1 ", str(LARGEST_ID + 1)):
        with pytest.raises(BadRequest):
            parse_cursor(bad)
    # PostgreSQL's bigint.
    assert LARGEST_ID == 9_223_372_036_854_775_807
