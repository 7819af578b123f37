"""A small world of deliveries, gone through whole: which of them a schedule is said to have failed."""

from __future__ import annotations

from itertools import product

from sqlalchemy import insert

from models.database.session import make_engine, reading, writing
from models.nightly.failed_deliveries import FailedDelivery, read_failed_deliveries
from models.schema.campaigns import Campaign
from models.schema.nightly import Delivery, NightlyRun
from models.schema.states import LeaseState, NightlyRunState
from tests.analysis.nightly_runs import add_schedule

STATES = (LeaseState.PENDING, LeaseState.DONE, LeaseState.FAILED)
DELIVERIES = [(state, attempts) for state in STATES for attempts in (0, 2)]


def test_the_last_delivery_that_was_attempted_counts(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    expected: dict[int, FailedDelivery] = {}
    with writing(engine) as connection:
        campaign = connection.execute(insert(Campaign).values(name="gate").returning(Campaign.id)).scalar_one()
    schedules = {}
    for number, histories in enumerate(product(DELIVERIES, DELIVERIES)):
        schedules[add_schedule(engine, campaign, name=f"s{number}")] = histories
    with writing(engine) as connection:
        for night, schedule in product(range(2), schedules):
            state, attempts = schedules[schedule][night]
            row = {
                "schedule_id": schedule,
                "due_at": float(night),
                "date": f"day {night}",
                "state": NightlyRunState.DONE,
            }
            run = connection.execute(insert(NightlyRun).values(**row).returning(NightlyRun.id)).scalar_one()
            error = None if state == LeaseState.DONE else f"{schedule} {night}"
            delivery = {"nightly_run_id": run, "state": state, "attempts": attempts, "error": error}
            connection.execute(insert(Delivery).values(**delivery, team="", queue_class=2))
            if attempts:
                expected.pop(schedule, None)
                if error is not None:
                    given_up = state == LeaseState.FAILED
                    expected[schedule] = FailedDelivery(f"day {night}", attempts, given_up, error)
    with reading(engine) as connection:
        assert read_failed_deliveries(connection) == expected
    assert len(expected) == 18
    engine.dispose()
