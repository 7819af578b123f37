"""Taking human judgments in: all of them or nothing, and nothing twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.human import NewJudgments, RatingRow, SegmentRow, SystemRow, store_judgments
from models.session import writing
from models.states import JudgmentKind

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from metrics.human.judgments import Judged
    from models.human import StoredJudgments


def take_in_judgments(engine: Engine, test_set_id: int, name: str, judged: Judged) -> tuple[StoredJudgments, bool]:
    """Store judgments of a test set in one transaction, and whether they are new; see `store_judgments`."""
    with writing(engine, durable=True) as connection:
        return store_judged(connection, test_set_id, name, judged)


def store_judged(connection: Connection, test_set_id: int, name: str, judged: Judged) -> tuple[StoredJudgments, bool]:
    """The same in a transaction of whoever asks."""
    new = NewJudgments(
        name,
        JudgmentKind(judged.kind),
        judged.method,
        [SystemRow(*score) for score in judged.systems],
        [SegmentRow(*score) for score in judged.segments],
        [RatingRow(*judgment) for judgment in judged.judgments],
    )
    return store_judgments(connection, test_set_id, new)
