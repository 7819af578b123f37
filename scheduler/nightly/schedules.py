"""Adds and removes schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from models.corpus.documents import resampled_documents
from models.database.upsert import insert_ignore
from models.errors import UnreadableRow
from models.nightly.schedules import Baseline, ScheduleInfo, find_schedule, find_schedule_id
from models.nightly.transitions import add_manual_run, cancel_due_runs
from models.schema.base import database_time
from models.schema.corpus import Submission, System, TestSet
from models.schema.nightly import NightlyRun, Schedule
from models.schema.states import BaselineKind, NightlyRunState, PairedTest, ResamplingUnit
from scheduler.errors import BadSchedule, ScheduleConflict
from scheduler.ingest.campaigns import NewSubmission, store_campaign, store_submissions
from scheduler.nightly.cron import Calendar, parse_date
from scheduler.nightly.sources import Source
from scheduler.webhooks.address import check_webhook
from steelyard.resampling.correction import CORRECTIONS
from steelyard.resampling.paired import FEW_SEGMENTS
from steelyard.text.names import fault_of_name

MAX_SECRET = 1000
"""Maximum number of characters."""


@dataclass(frozen=True, slots=True)
class NewSchedule:
    """A schedule to be stored, as `models.schema.nightly.Schedule`."""

    name: str
    calendar: Calendar
    source: Source
    test_sets: Sequence[tuple[int, Sequence[str]]]
    """(test set, labels of references)."""
    metrics: Sequence[str]
    """Resolved specifications."""
    baseline: Baseline
    resample: ResamplingUnit | None = None
    """What replicates draw and tests exchange; None for documents where a test set has enough of them."""
    replicates: int = 1000
    seed: int = 12345
    alpha: float = 0.05
    correction: str = "holm"
    test: PairedTest = PairedTest.BOOTSTRAP
    minimum_difference: float = 0.0
    webhook: str | None = None
    webhook_secret: str | None = field(default=None, repr=False)
    webhook_private: bool = False
    team: str = ""


def add_schedule(connection: Connection, new: NewSchedule) -> int:
    """Store a schedule; its id. A removed schedule of that name is restored, with its history.

    Its first run is the next one by its calendar.

    Raises
    ------
    BadSchedule, BadWebhook
        If it is invalid.
    ScheduleConflict
        If the name is taken.
    """
    _check(new)
    known = connection.execute(select(Schedule.id, Schedule.active).where(Schedule.name == new.name)).one_or_none()
    if known is not None and known.active:
        raise ScheduleConflict(
            f'There is already a schedule "{new.name}". Choose another name, or remove it first '
            f"(`steelyard schedule delete {new.name}` keeps its history)."
        )
    values: dict[str, Any] = {
        "cron": new.calendar.expression,
        "time_zone": new.calendar.time_zone,
        "source": new.source.as_json(),
        "test_sets": [
            {"test_set_id": key, "references": list(labels), "resample": _unit(connection, key, new.resample).value}
            for key, labels in new.test_sets
        ],
        "metrics": list(new.metrics),
        "replicates": new.replicates,
        "seed": new.seed,
        "baseline": new.baseline.as_json(),
        "alpha": new.alpha,
        "correction": new.correction,
        "test": new.test,
        "minimum_difference": new.minimum_difference,
        "webhook": new.webhook,
        "webhook_secret": new.webhook_secret,
        "webhook_private": new.webhook_private,
        "team": new.team,
        "active": True,
        "next_at": new.calendar.after(database_time(connection)),
        "campaign_id": store_campaign(connection, new.name),
    }
    if known is not None:
        connection.execute(update(Schedule).where(Schedule.id == known.id).values(values))
        return int(known.id)
    return connection.execute(insert(Schedule).values(name=new.name, **values).returning(Schedule.id)).scalar_one()


def _unit(connection: Connection, test_set_id: int, asked: ResamplingUnit | None) -> ResamplingUnit:
    """What is resampled of a test set. Raises BadSchedule where documents are asked for and there are none."""
    if asked is ResamplingUnit.SEGMENT:
        return asked
    segments = connection.scalar(select(TestSet.segments).where(TestSet.id == test_set_id)) or 0
    try:
        documents = resampled_documents(connection, test_set_id, segments, ResamplingUnit.DOCUMENT)
    except UnreadableRow as error:
        if asked is ResamplingUnit.DOCUMENT:
            raise BadSchedule(
                f"Test set {test_set_id} does not name the documents of all of its segments, so they cannot be "
                "resampled. Resample segments."
            ) from error
        return ResamplingUnit.SEGMENT
    enough = documents is not None and documents.count >= FEW_SEGMENTS
    return ResamplingUnit.DOCUMENT if asked is ResamplingUnit.DOCUMENT or enough else ResamplingUnit.SEGMENT


def _check(new: NewSchedule) -> None:
    if fault := fault_of_name(new.name):
        raise BadSchedule(f'"{new.name}" cannot be the name of a schedule: {fault}.')
    if not new.test_sets or not new.metrics:
        raise BadSchedule("A schedule needs at least one test set and one metric.")
    if new.correction not in CORRECTIONS:
        raise BadSchedule(f'There is no correction "{new.correction}". Corrections: {", ".join(CORRECTIONS)}.')
    if not 0 < new.alpha < 1:
        raise BadSchedule(f"alpha = {new.alpha} is not between 0 and 1.")
    if new.test == PairedTest.BOOTSTRAP and not new.replicates:
        raise BadSchedule("The bootstrap's test needs replicates.")
    if not new.minimum_difference >= 0:
        raise BadSchedule(f"The smallest difference that matters cannot be {new.minimum_difference}.")
    if new.webhook is None:
        return
    check_webhook(new.webhook, private=new.webhook_private)
    if not new.webhook_secret or len(new.webhook_secret) > MAX_SECRET:
        raise BadSchedule(
            f"A webhook needs a secret of 1 to {MAX_SECRET} characters, with which its receiver verifies our messages."
        )


def store_baseline(connection: Connection, schedule: ScheduleInfo, given: Mapping[int, NewSubmission]) -> list[int]:
    """Store the output of a named baseline, for runs without it; the test sets that lack it.

    `given` are outputs by test set. For the others, the last submission of a system of that name, in any campaign, is
    used.
    """
    if schedule.baseline.kind != BaselineKind.NAMED or schedule.baseline.date is not None:
        return []
    missing = []
    for key in dict.fromkeys(each["test_set_id"] for each in schedule.test_sets):
        if key in given:
            store_submissions(connection, schedule.campaign_id, key, [given[key]])
        elif not _copy_submission(connection, schedule, key):
            missing.append(key)
    return missing


def _copy_submission(connection: Connection, schedule: ScheduleInfo, test_set_id: int) -> bool:
    last = connection.execute(
        select(Submission.text_id)
        .join(System, System.id == Submission.system_id)
        .where(Submission.test_set_id == test_set_id, System.name == schedule.baseline.system)
        .order_by(Submission.id.desc())
        .limit(1)
    ).one_or_none()
    if last is None:
        return False
    system = {"team": schedule.team, "name": schedule.baseline.system}
    insert_ignore(connection, System, [system])
    row = {
        "campaign_id": schedule.campaign_id,
        "test_set_id": test_set_id,
        "system_id": connection.execute(select(System.id).filter_by(**system)).scalar_one(),
        "run": "",
        "text_id": last.text_id,
    }
    insert_ignore(connection, Submission, [row])
    return True


def remove_schedule(connection: Connection, name: str, *, forget: bool) -> int:
    """Remove a schedule, so that it has no more runs; the number of runs kept. A run in progress still finishes.

    With `forget`, its runs are deleted; their submissions stay in its campaign.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    schedule = find_schedule_id(connection, name)
    if forget:
        connection.execute(delete(Schedule).where(Schedule.id == schedule))
        return 0
    connection.execute(update(Schedule).where(Schedule.id == schedule).values(active=False, next_at=None))
    cancel_due_runs(connection, schedule, "The schedule was removed.")
    ended = select(NightlyRun.id).where(NightlyRun.schedule_id == schedule, NightlyRun.state != NightlyRunState.MISSED)
    return len(connection.execute(ended).all())


def request_nightly_run(connection: Connection, name: str, day: str | None) -> int:
    """Add a manual run of a schedule: now, or as if it were the run of a date (YYYY-MM-DD); its id.

    Raises
    ------
    NotFound
        If no schedule has this name.
    BadSchedule
        If the date is invalid.
    ScheduleConflict
        If the schedule was removed, or the date is in the future.
    """
    schedule = find_schedule(connection, name)
    if not schedule.active:
        raise ScheduleConflict(f'The schedule "{name}" was removed. Add it again to continue it.')
    calendar, moment = Calendar(schedule.cron, schedule.time_zone), database_time(connection)
    today = calendar.date(moment)
    chosen = today if day is None else parse_date(day)
    if chosen > today:
        raise ScheduleConflict(f"{day} is in the future: in {schedule.time_zone} it is {today}.")
    due_at = moment if chosen == today else calendar.on(chosen)
    return add_manual_run(connection, schedule.id, due_at, chosen.isoformat())
