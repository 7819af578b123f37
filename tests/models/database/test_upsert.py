"""Rows of statistics: one by one or at once, what is there afterwards is the same."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import event, select

import models.database.upsert
from models.database.session import make_engine, reading, writing
from models.database.upsert import upsert_blobs
from models.schema.results import Statistics
from runtime.settings import Settings
from tests.scheduler.jobs import queue_job

VALUES = ("last_block", "blob", "object_url")


def rows(evaluation: int, last: int) -> list[dict[str, Any]]:
    """Of three metrics, one of them with its bytes in an object."""
    common = {"evaluation_id": evaluation, "first_block": 0, "last_block": last}
    return [
        {**common, "metric": 0, "blob": b"\x00\xff" * last, "object_url": None},
        {**common, "metric": 1, "blob": b"", "object_url": f"s3://bucket/{last}"},
        {**common, "metric": 2, "blob": b"{}'\"\\", "object_url": None},
    ]


@pytest.mark.parametrize("most", [1 << 20, 1])
def test_what_is_there_is_replaced(database_url: str, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(models.database.upsert, "AT_ONCE_BYTES", most)
    engine = make_engine(database_url, binary=True)
    job = queue_job(engine, Settings(database_url=database_url), segments=300, metrics=["bleu"])
    (evaluation, *_) = job.all_evaluations
    inserted: list[str] = []
    event.listen(
        engine,
        "before_cursor_execute",
        lambda *arguments: inserted.append(arguments[2]) if "INSERT" in arguments[2] else None,
    )
    for last in (1, 2):
        with writing(engine) as connection:
            upsert_blobs(connection, Statistics, rows(evaluation, last), VALUES)
        with reading(engine) as connection:
            found = connection.execute(select(Statistics).order_by(Statistics.metric)).mappings().all()
        expected = rows(evaluation, last)
        assert [{name: each[name] for name in expected[0]} for each in found] == expected
    at_once = most > 1 and engine.dialect.name == "postgresql"
    assert all(("unnest" in statement) == at_once for statement in inserted)
    with writing(engine) as connection:
        upsert_blobs(connection, Statistics, [], VALUES)
