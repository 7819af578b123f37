"""The documents that replicates draw: those of all segments of a test set, in their order, or none."""

from __future__ import annotations

from itertools import product

import pytest
from sqlalchemy import Engine, delete, insert

from models.corpus.documents import resampled_documents
from models.corpus.test_sets import document_segments
from models.database.session import make_engine, writing
from models.errors import UnreadableRow
from models.schema.corpus import Document
from models.schema.states import ResamplingUnit
from tests.service.campaigns import found, given, with_test_set

SEGMENT, DOCUMENT = ResamplingUnit.SEGMENT, ResamplingUnit.DOCUMENT


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    engine = make_engine(sqlite_url)
    found(engine, "wmt")
    with_test_set(engine, "wmt", given(), name="news")
    with_test_set(engine, "wmt", given(b"x\ny\nz\n", b"u\nv\nw\n"), name="talks")
    return engine


def stored(engine: Engine, *pieces: tuple[int, int, str], unit: ResamplingUnit = DOCUMENT) -> list[int] | None:
    """What is drawn of the first test set of three segments with these documents, and one for all of the other."""
    rows = [dict(zip(("first_segment", "segments", "name"), piece, strict=True), test_set_id=1) for piece in pieces]
    with writing(engine) as connection:
        connection.execute(delete(Document))
        connection.execute(insert(Document), [*rows, {**rows[0], "test_set_id": 2, "first_segment": 0, "segments": 3}])
        documents = resampled_documents(connection, 1, 3, unit)
    return None if documents is None else documents.of_segment.tolist()


def test_documents_are_in_the_order_of_the_segments_and_of_one_name_are_one(engine: Engine) -> None:
    assert stored(engine, (2, 1, "a"), (0, 1, "c"), (1, 1, "b")) == [0, 1, 2]
    assert stored(engine, (2, 1, "a"), (0, 1, "a"), (1, 1, "b")) == [0, 1, 0]
    assert stored(engine, (0, 2, "a"), (2, 1, "b"), unit=SEGMENT) is None


@pytest.mark.parametrize(
    ("pieces", "covered"),
    [
        ([(0, 2, "a")], 2),
        ([(1, 2, "a")], 0),
        ([(0, 2, "a"), (2, 2, "b")], 4),
        # As many segments as there are, and still others.
        ([(1, 3, "a")], 0),
        ([(0, 1, "a"), (2, 2, "b")], 1),
        ([(0, 2, "a"), (1, 1, "b")], 2),
    ],
)
def test_documents_with_gaps_or_twice_are_refused(
    engine: Engine, pieces: list[tuple[int, int, str]], covered: int
) -> None:
    with pytest.raises(UnreadableRow, match=f"test set 1, and these cover {covered} of its 3 segments"):
        stored(engine, *pieces)


@pytest.mark.parametrize("known", list(product((True, False), repeat=3)))
def test_ids_of_a_document_in_pieces_are_known_where_all_pieces_have_them(
    engine: Engine, known: tuple[bool, ...]
) -> None:
    """Two pieces of one document, with another between them."""
    pieces = ((0, 1, "a"), (1, 1, "b"), (2, 1, "a"))
    rows = [
        {"first_segment": first, "segments": count, "name": name, "test_set_id": 2, "segment_ids": ids}
        for (first, count, name), ids in zip(
            pieces, ([str(n)] if there else None for n, there in enumerate(known)), strict=True
        )
    ]
    with writing(engine) as connection:
        connection.execute(delete(Document))
        for row in rows:
            connection.execute(insert(Document).values(row))
        found = document_segments(connection, 2)
    assert {name: each.positions for name, each in found.items()} == {"a": [0, 2], "b": [1]}
    assert found["a"].ids == (["0", "2"] if known[0] and known[2] else None)
    assert found["b"].ids == (["1"] if known[1] else None)
