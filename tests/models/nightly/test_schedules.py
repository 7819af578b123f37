"""Schedules as they are read; those that another release has written are named, and hold up no other."""

from pathlib import Path

import pytest
from sqlalchemy import update

from models.database.session import make_engine, reading, writing
from models.errors import NotFound, UnreadableSchedule
from models.nightly.schedules import Baseline, find_schedule, find_schedule_id, list_schedules, read_schedule
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


def test_removed_schedules_are_found_by_name_and_listed_only_if_asked_for(sqlite_url: str, tmp_path: Path) -> None:
    engine = make_engine(sqlite_url)
    with reading(engine) as connection, pytest.raises(NotFound, match="There is none; `steelyard schedule create`"):
        find_schedule(connection, "gate")
    ids = {name: add(engine, tmp_path, name=name) for name in ("quay", "gate", "dock", "pier")}
    with writing(engine) as connection:
        connection.execute(update(Schedule).where(Schedule.name == "dock").values(active=False))
        assert [each.name for each in list_schedules(connection)] == ["gate", "pier", "quay"]
        assert [each.name for each in list_schedules(connection, removed=True)] == ["dock", "gate", "pier", "quay"]
        for name, number in ids.items():
            assert find_schedule_id(connection, name) == number
            assert find_schedule(connection, name) == read_schedule(connection, number)
            assert (read_schedule(connection, number).name, find_schedule(connection, name).id) == (name, number)
        with pytest.raises(NotFound) as missing:
            find_schedule(connection, "buoy")
        assert str(missing.value) == "There is no schedule 'buoy'. There are: gate, pier, quay."
        with pytest.raises(NotFound, match=r"^There is no schedule 99\.$"):
            read_schedule(connection, 99)
    engine.dispose()
