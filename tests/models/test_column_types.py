"""Columns read values that this release does not know, and raise only where somebody goes by them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, insert, select, text

from models.database.session import make_engine, reading, writing
from models.errors import UnreadableRow
from models.schema.column_types import EnumText, JsonOf, is_known, kept, known, readable, readable_rows, stored
from models.schema.states import NightlyRunState

MARKS = Table(
    "mark",
    MetaData(),
    Column("id", Integer, primary_key=True),
    Column("state", EnumText(NightlyRunState)),
    Column("words", JsonOf(list[str], "The words of a mark")),
    Column("numbers", JsonOf(dict[str, list[float]], "The numbers of a mark", none_as_null=True)),
)


def test_values_come_back_as_they_were_written(database_url: str) -> None:
    with writing(make_engine(database_url)) as connection:
        MARKS.create(connection)
        rows = [
            {"id": 1, "state": NightlyRunState.DUE, "words": ["a", "b"], "numbers": {"x": [1, 0.5]}},
            {"id": 2, "state": "done", "words": [], "numbers": None},
            {"id": 3, "state": None, "words": ["null"], "numbers": {}},
        ]
        connection.execute(insert(MARKS), rows)
        found = connection.execute(select(MARKS).order_by(MARKS.c.id)).all()
        assert [each._asdict() for each in found] == rows
        assert found[1].state is NightlyRunState.DONE
        assert connection.scalar(select(MARKS.c.id).where(MARKS.c.state == NightlyRunState.DONE)) == 2


@pytest.mark.parametrize("written", ["{broken", "7", '"word"', "null", '["a", 7]', '{"a": "b"}', "[" * 10_000])
def test_what_is_no_value_raises_where_it_is_used(sqlite_url: str, written: str) -> None:
    with writing(make_engine(sqlite_url)) as connection:
        MARKS.create(connection)
        connection.execute(text("INSERT INTO mark (id, state, words) VALUES (1, 'party', :words)"), {"words": written})
        connection.execute(insert(MARKS).values(id=2, state="due", words=["a"]))
    with reading(make_engine(sqlite_url)) as connection:
        odd, good = connection.execute(select(MARKS).order_by(MARKS.c.id)).all()
    assert (odd.state, is_known(odd.state), is_known(good.state)) == ("party", False, True)
    assert odd.state not in set(NightlyRunState)
    assert known(good.state, "The state") is NightlyRunState.DUE
    with pytest.raises(UnreadableRow, match=r"^The state is 'party' in the database, where this release knows 'due'"):
        known(odd.state, "The state")
    for use in (len, list, bool, hash, lambda value: value == [], lambda value: value[0]):
        with pytest.raises(UnreadableRow):
            use(odd.words)
    with pytest.raises(UnreadableRow, match=r"^The words of a mark cannot be read: "):
        tuple(odd.words)
    assert readable(odd.words, ["none"]) == ["none"]
    assert readable(good.words, ["none"]) == ["a"]
    later: Any = kept(odd.words, tuple)
    with pytest.raises(UnreadableRow):
        len(later)
    assert kept(good.words, tuple) == ("a",)
    assert readable_rows([odd, good], lambda row: tuple(row.words)) == [("a",)]
    assert readable_rows([], len) == []
    with pytest.raises(UnreadableRow):
        readable_rows([odd], lambda row: tuple(row.words))


@pytest.mark.parametrize("lacks", [{}, {"a": None}, {"a": "x"}, {"a": {}}])
def test_a_part_that_is_missing_is_reported(lacks: dict[str, Any]) -> None:
    with (
        pytest.raises(UnreadableRow, match=r"^The verdict cannot be read: it was changed"),
        stored("The verdict"),
    ):
        int(lacks["a"][0])
    with pytest.raises(ZeroDivisionError), stored("The verdict"):
        math.fsum([1, 2]) / 0
