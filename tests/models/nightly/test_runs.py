"""Runs as they are read: counted for each schedule, in their order, with what each measured and how far it is."""

import pytest
from sqlalchemy import Engine, insert, update

from models.database.session import make_engine, reading, writing
from models.errors import NotFound
from models.nightly.runs import (
    NightlyRunCount,
    count_nightly_runs,
    list_nightly_runs,
    read_nightly_run,
    read_nightly_run_members,
    read_nightly_run_progress,
)
from models.schema.campaigns import Campaign
from models.schema.nightly import NightlyRun, NightlyRunEvaluation
from models.schema.queue import Evaluation
from models.schema.states import EvaluationState, NightlyRunState
from tests.analysis.nightly_runs import add_schedule
from tests.scheduler.jobs import one_block_shards, queue_job

DUE, _, SCORING, _, DONE, _, MISSED = NightlyRunState
RUNS = [(1, 30.0, SCORING), (1, 10.0, DONE), (2, 10.0, MISSED), (1, 40.0, DUE), (2, 20.0, DUE), (3, 5.0, DUE)]
"""Schedule, when it was due, and state of the runs 1 to 6; a fourth schedule has none."""


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    engine = make_engine(sqlite_url)
    with writing(engine) as connection:
        campaign = connection.execute(insert(Campaign).values(name="gate").returning(Campaign.id)).scalar_one()
    for name in ("one", "two", "three", "four"):
        add_schedule(engine, campaign, name=name)
    with writing(engine) as connection:
        for schedule, due_at, state in RUNS:
            row = {"schedule_id": schedule, "due_at": due_at, "date": "2026-03-02", "state": state}
            connection.execute(insert(NightlyRun).values(**row))
    return engine


def test_runs_of_a_schedule_are_counted_and_the_last_that_began_is_reported(engine: Engine) -> None:
    with reading(engine) as connection:
        found = count_nightly_runs(connection, [1, 2, 3, 4])
        assert {schedule: (each.count, each.last and each.last.id) for schedule, each in found.items()} == {
            1: (3, 1),
            2: (2, 3),
            3: (1, None),
            4: (0, None),
        }
        assert count_nightly_runs(connection, [4]) == {4: NightlyRunCount()}
        assert [each.id for each in list_nightly_runs(connection, 1)] == [2, 1, 4]
        assert read_nightly_run(connection, 3).state == MISSED
        with pytest.raises(NotFound):
            read_nightly_run(connection, 7)


def test_how_far_a_run_is_and_what_it_measures(engine: Engine, sqlite_url: str) -> None:
    evaluations = queue_job(engine, one_block_shards(sqlite_url), systems=7).all_evaluations
    # Another campaign has the same test set, and nothing to do with these runs.
    queue_job(engine, one_block_shards(sqlite_url), systems=1, campaign="another")
    with writing(engine) as connection:
        for number, (evaluation, state) in enumerate(
            zip(evaluations, [*EvaluationState, EvaluationState.DONE], strict=True)
        ):
            connection.execute(update(Evaluation).where(Evaluation.id == evaluation).values(state=state))
            row = {"nightly_run_id": 1, "evaluation_id": evaluation, "system": f"s{9 - number}"}
            connection.execute(insert(NightlyRunEvaluation).values(**row))
        another = {"nightly_run_id": 2, "evaluation_id": evaluations[0], "system": "other"}
        connection.execute(insert(NightlyRunEvaluation).values(**another))
    with reading(engine) as connection:
        progress = read_nightly_run_progress(connection, 1)
        assert (progress.evaluations, progress.evaluations_done) == (7, 4), "done, failed and cancelled"
        assert [read_nightly_run_progress(connection, run).open for run in (1, 2, 3, 4)] == [1, 0, 0, 1]
        assert read_nightly_run_progress(connection, 4).evaluations == 0
        members = read_nightly_run_members(connection, [1, 2, 4])
    assert [each.evaluation_id for each in members[1]] == [*reversed(evaluations)]
    assert [each.system for each in members[1]] == [f"s{number}" for number in range(3, 10)]
    assert {(each.test_set, each.references) for each in members[1]} == {("trial", ("A",))}
    assert [(each.system, each.evaluation_id) for each in members[2]] == [("other", evaluations[0])]
    assert members[4] == []
