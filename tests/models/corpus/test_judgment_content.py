"""Which judgments are the same: each field of each row counts, their order does not; and what is read of them."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest
from sqlalchemy import Engine, select

from models.corpus.judgments import (
    NewJudgments,
    RatingRow,
    SegmentRow,
    SpanRow,
    SystemRow,
    delete_judgments,
    list_judgments,
    read_ratings,
    read_segments,
    read_spans,
    read_systems,
    store_judgments,
)
from models.database.session import make_engine, reading, writing
from models.schema.human import Judgments
from models.schema.states import JudgmentKind
from scheduler.ingest.campaigns import store_campaign
from scheduler.ingest.test_sets import NewTestSet, store_test_set

ROWS: dict[str, list[Any]] = {
    "systems": [SystemRow(name, 0.5, 50.0, 3, 6, 2) for name in "ab"],
    "segments": [SegmentRow(name, segment, 0.25, 40.0, 2) for name in "ab" for segment in range(3)],
    "ratings": [
        RatingRow("eva", name, segment, 40.0, "r", wave, seconds)
        for name in "ab"
        for segment in range(3)
        for wave, seconds in ((0, 1.5), (0, None), (1, 2.5), (1, 0.5))
    ],
    "spans": [
        SpanRow("eva", name, segment, begins, 4, "minor", "style", missing=False, in_source=False)
        for name in "ab"
        for segment in range(3)
        for begins in (0, 2)
    ],
}
FIELDS = [(kind, field) for kind, rows in ROWS.items() for field in rows[0]._fields]
PLAIN = {**ROWS, "ratings": [row._replace(wave=0, seconds=None) for row in ROWS["ratings"][::4]], "spans": []}


def changed(value: Any) -> Any:
    """Another value of its kind that a test set of three segments allows."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return f"{value}c"
    if isinstance(value, int):
        return value + 1 if value < 2 else value - 1
    return 0.125 if value is None else value + 0.125


def judgments(rows: dict[str, list[Any]]) -> NewJudgments:
    return NewJudgments("esa", JudgmentKind.RATINGS, {}, **rows)


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    engine = make_engine(sqlite_url)
    with writing(engine) as connection:
        store_test_set(connection, store_campaign(connection, "c"), NewTestSet("t", {"A": b"x\ny\nz"}))
    return engine


def store(engine: Engine, rows: dict[str, list[Any]]) -> int:
    """The version."""
    with writing(engine) as connection:
        return store_judgments(connection, 1, 1, judgments(rows))[0].version


@pytest.mark.parametrize("rows", [ROWS, PLAIN], ids=["spans, waves and times", "plain"])
def test_every_field_counts_and_no_order(engine: Engine, rows: dict[str, list[Any]]) -> None:
    versions = [store(engine, rows)]
    for kind, field in FIELDS:
        if not rows[kind]:
            continue
        first, *rest = rows[kind]
        other = {**rows, kind: [first._replace(**{field: changed(getattr(first, field))}), *rest]}
        if len({(row.system, getattr(row, "segment", 0)) for row in other[kind]}) < len(other[kind]) and kind in (
            "systems",
            "segments",
        ):
            # It would be judged twice: the others go.
            other[kind] = other[kind][:1]
        versions.append(store(engine, other))
    assert versions == list(range(1, len(versions) + 1)), "something that differs was taken for the same"
    for seed in range(10):
        shuffled = {kind: random.Random(seed).sample(some, len(some)) for kind, some in rows.items()}
        assert store(engine, shuffled) == 1


def test_a_version_is_never_given_again(engine: Engine) -> None:
    for number in range(4):
        store(engine, {**ROWS, "systems": [SystemRow("a", float(number))]})
    with writing(engine) as connection:
        for each in list_judgments(connection, 1, 1):
            if each.version in (1, 3):
                delete_judgments(connection, each.id)
    assert store(engine, ROWS) == 5
    with reading(engine) as connection:
        assert [each.version for each in list_judgments(connection, 1, 1)] == [5, 4, 2]


def test_what_is_read_is_what_was_stored_of_those_segments_and_systems(engine: Engine) -> None:
    store(engine, ROWS)
    subsets = [set(some) for size in range(4) for some in combinations(range(3), size)]
    with reading(engine) as connection:
        assert sorted(read_systems(connection, 1)) == sorted(ROWS["systems"])
        assert read_segments(connection, 1) == sorted(ROWS["segments"])
        assert read_spans(connection, 1) == sorted(ROWS["spans"])
        assert sorted(map(repr, read_ratings(connection, 1))) == sorted(map(repr, ROWS["ratings"]))
        for segments in subsets:
            for systems in (["a"], ["b"], ["a", "b"], ["c"], []):

                def wanted(kind: str, segments: set[int] = segments, systems: list[str] = systems) -> list[Any]:
                    return sorted(row for row in ROWS[kind] if row.segment in segments and row.system in systems)

                assert read_segments(connection, 1, segments=segments, systems=systems) == wanted("segments")
                assert read_spans(connection, 1, segments, systems) == wanted("spans")
        for first in range(8):
            for most in range(8):
                assert read_segments(connection, 1, first, most) == sorted(ROWS["segments"])[first : first + most]


def test_what_was_imported_before_there_were_spans_is_known_again(engine: Engine) -> None:
    """The hash of judgments without spans, waves and times is the one that databases hold of them."""
    store(engine, PLAIN)
    with reading(engine) as connection:
        found = connection.scalars(select(Judgments.content_hash)).one()
    assert found == "744ea906ddbd2dd18d329c040e6667d3b426fc9abac0a75e452e92738284cb63"
