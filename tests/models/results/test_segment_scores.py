"""Scores by content: each scorer's own, stored once, kept as long as they are needed."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine, select, update

from models.database.session import make_engine, writing
from models.results.segment_scores import (
    AT_ONCE,
    prune_segment_scores,
    read_segment_scores,
    store_segment_scores,
    touch_segment_scores,
)
from models.schema.base import now
from models.schema.learned import Scorer, SegmentScore
from steelyard.metrics.preparation.score_store import Scored

DAY = 86400.0


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = make_engine(database_url)
    yield engine
    engine.dispose()


def digest(number: int) -> bytes:
    return number.to_bytes(32, "big")


def store(connection: Connection, scorer: str, *numbers: int, value: float = 0.5) -> None:
    store_segment_scores(connection, scorer, {digest(each): Scored((value, float(each))) for each in numbers})


def aged(connection: Connection, number: int, seconds: float) -> None:
    old = update(SegmentScore).where(SegmentScore.content_hash == digest(number)).values(used_at=now() - seconds)
    connection.execute(old)


def there(connection: Connection) -> set[tuple[str, int]]:
    rows = connection.execute(
        select(Scorer.description, SegmentScore.content_hash).join(Scorer, Scorer.id == SegmentScore.scorer_id)
    )
    return {(row.description, int.from_bytes(row.content_hash, "big")) for row in rows}


def test_each_scorer_has_its_own_and_the_first_stays(engine: Engine) -> None:
    with writing(engine) as connection:
        store(connection, "a", 1, 2, value=0.1)
        # As by another worker, a moment later: both go on with what is stored.
        again = {digest(2): Scored((0.9, 9.0)), digest(3): Scored((0.3, 3.0), '{"why": "so"}')}
        assert store_segment_scores(connection, "a", again) == {digest(2): (0.1, 2.0), digest(3): (0.3, 3.0)}
        store(connection, "b", 2, value=0.7)
        wanted = [digest(number) for number in range(5)]
        assert read_segment_scores(connection, "a", wanted) == {
            digest(1): (0.1, 1.0),
            digest(2): (0.1, 2.0),
            digest(3): (0.3, 3.0),
        }
        assert read_segment_scores(connection, "b", wanted) == {digest(2): (0.7, 2.0)}
        assert read_segment_scores(connection, "c", wanted) == {}
        assert [row for row in connection.scalars(select(SegmentScore.beside)) if row] == ['{"why": "so"}']


def test_more_than_one_statement_takes(engine: Engine) -> None:
    many = range(AT_ONCE + 3)
    with writing(engine) as connection:
        store(connection, "a", *many)
        assert len(read_segment_scores(connection, "a", [digest(number) for number in many])) == len(many)
        connection.execute(update(SegmentScore).values(used_at=5.0))
        touch_segment_scores(connection, "a", [digest(number) for number in many])
        assert connection.scalars(select(SegmentScore.content_hash).where(SegmentScore.used_at == 5.0)).all() == []


def test_what_is_needed_again_is_noted_once_a_day(engine: Engine) -> None:
    with writing(engine) as connection:
        store(connection, "a", 1, 2, 3)
        store(connection, "b", 1)
        for number, age in ((1, DAY + 100), (2, DAY - 100), (3, 2 * DAY)):
            aged(connection, number, age)
        touch_segment_scores(connection, "a", [digest(1), digest(2)])
        rows = connection.execute(
            select(Scorer.description, SegmentScore.content_hash, (now() - SegmentScore.used_at).label("age"))
            .join(Scorer, Scorer.id == SegmentScore.scorer_id)
            .order_by(Scorer.description, SegmentScore.content_hash)
        )
        ages = [(row.description, row.content_hash[-1], round(row.age / DAY, 2)) for row in rows]
    assert ages == [("a", 1, 0.0), ("a", 2, 1.0), ("a", 3, 2.0), ("b", 1, 1.0)]


def test_the_oldest_go_first_and_scorers_with_their_last(engine: Engine) -> None:
    with writing(engine) as connection:
        store(connection, "a", 1, 2, 3)
        store(connection, "b", 4)
        for number, age in ((1, 200.0), (2, 400.0), (3, 50.0), (4, 300.0)):
            aged(connection, number, age)
        store(connection, "b", 2)
        assert prune_segment_scores(connection, 100.0, 1) == 1
        assert there(connection) == {("a", 1), ("a", 3), ("b", 4), ("b", 2)}
        assert prune_segment_scores(connection, 100.0, 10) == 2
        assert there(connection) == {("a", 3), ("b", 2)}
        aged(connection, 2, 300.0)
        assert prune_segment_scores(connection, 100.0, 10) == 1
        assert list(connection.scalars(select(Scorer.description))) == ["a"]
        assert prune_segment_scores(connection, 100.0, 10) == 0
        assert there(connection) == {("a", 3)}
