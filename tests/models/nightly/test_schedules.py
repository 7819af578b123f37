"""Schedules as they are read; those that another release has written are named, and hold up no other."""

from pathlib import Path

import pytest
from sqlalchemy import update

from models.database.session import make_engine, reading, writing
from models.errors import UnreadableSchedule
from models.nightly.schedules import Baseline, find_schedule, list_schedules
from models.schema.nightly import Schedule
from models.schema.states import BaselineKind
from tests.scheduler.nightly.nightly_runs import add


@pytest.mark.parametrize(
    "values",
    [{"baseline": {}}, {"baseline": {"kind": "median"}}, {"baseline": {"system": "tug"}}],
)
def test_what_cannot_be_read_is_named_and_left_out(sqlite_url: str, tmp_path: Path, values: dict[str, object]) -> None:
    engine = make_engine(sqlite_url)
    strange = add(engine, tmp_path, name="strange")
    add(engine, tmp_path, name="healthy")
    with writing(engine) as connection:
        connection.execute(update(Schedule).where(Schedule.id == strange).values(**values))
    with reading(engine) as connection:
        assert [each.name for each in list_schedules(connection)] == ["healthy"]
        with pytest.raises(UnreadableSchedule, match='"strange" was written by another release'):
            find_schedule(connection, "strange")
    engine.dispose()


@pytest.mark.parametrize(
    "baseline",
    [
        Baseline(BaselineKind.PREVIOUS),
        Baseline(BaselineKind.NAMED, "ferry"),
        Baseline(BaselineKind.NAMED, None, "2026-03-01"),
        Baseline(BaselineKind.NAMED, "ferry", "2026-03-01"),
    ],
)
def test_a_baseline_is_read_as_it_was_stored(sqlite_url: str, tmp_path: Path, baseline: Baseline) -> None:
    engine = make_engine(sqlite_url)
    add(engine, tmp_path, baseline=baseline)
    with reading(engine) as connection:
        assert find_schedule(connection, "gate").baseline == baseline
    engine.dispose()
