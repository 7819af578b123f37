"""The steps of a night. Each is done by whoever holds it, and writes what came of it in one transaction.

A step that is cut short anywhere has written nothing, and the next one who claims it does it again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from datetime import date

from sqlalchemy import Connection, Engine, select

from metrics.errors import BadText
from metrics.registry import parse_metric
from metrics.text.plain import Text
from models.corpus.test_sets import list_test_sets
from models.database.session import reading, writing
from models.nightly.runs import read_night
from models.nightly.schedules import ScheduleInfo, read_schedule
from models.nightly.transitions import begin_judging, fail_night
from models.queue.kinds.night_steps import NIGHT_STEP, Asked, ClaimedStep, Fetched, Judged
from models.queue.task_kind import complete, release
from models.queue_status.progress import failure_reasons, read_comparison_progress, read_progress
from models.schema.corpus import Protocol, Submission, System
from models.schema.nightly import NightEvaluation
from models.schema.queue import Evaluation
from models.schema.states import OPEN, BaselineKind, NightState, PairedTest, QueueClass
from runtime.settings import Settings
from scheduler.enqueue.evaluations import enqueue_evaluations
from scheduler.errors import BadIngest, BadSource
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, store_protocols, store_submissions
from scheduler.nightly.sources import Source, WantedTestSet, outputs

log = logging.getLogger(__name__)


class _TakenAway(Exception):
    """Somebody else holds the night by now: what was done for it must not stay."""


def fetch(engine: Engine, settings: Settings, step: ClaimedStep, stop: threading.Event) -> None:
    """Get the outputs of a night and queue their evaluations, all or none.

    The night fails with a reason where outputs are not as they must be.
    Raises scheduler.nightly.commands.CommandStopped when `stop` is set.
    """
    with reading(engine) as connection:
        night = read_night(connection, step.night_id)
        schedule = read_schedule(connection, night.schedule_id)
        titles = {each.id: each for each in list_test_sets(connection, schedule.campaign_id)}
    wanted = {
        each["test_set_id"]: WantedTestSet(titles[each["test_set_id"]].title, titles[each["test_set_id"]].segments)
        for each in schedule.test_sets
    }
    source = Source.from_json(schedule.source)
    try:
        if source.kind == "command" and not settings.night_commands:
            raise BadSource("Commands of schedules are not run here: STEELYARD_NIGHT_COMMANDS forbids it.")
        with outputs(
            source,
            list(wanted.values()),
            schedule.metrics,
            schedule=schedule.name,
            day=date.fromisoformat(night.date),
            stop=stop,
            passed_on=settings.night_variables,
        ) as texts:
            given = {key: texts[test_set.title] for key, test_set in wanted.items()}
            # Here and not later: large texts are read from their files while they are stored.
            with writing(engine, durable=True) as connection:
                members = _take_in(connection, settings, schedule, given)
                # Last of all: whoever renews the lease meanwhile must not wait for us.
                if not complete(connection, NIGHT_STEP, step, Fetched(members)).accepted:
                    raise _TakenAway
    except _TakenAway:
        log.info("The night of %s was taken over by another scheduler.", night.date)
    except (BadSource, BadIngest, BadText) as error:
        _fail_step(engine, settings, step, str(error))


def _take_in(
    connection: Connection, settings: Settings, schedule: ScheduleInfo, given: dict[int, dict[str, Text]]
) -> list[tuple[int, str]]:
    """Store and queue outputs (by test set and system); the evaluations with their systems."""
    metrics = [parse_metric(each) for each in schedule.metrics]
    submitted: dict[int, list[int]] = {}
    # In one order for all who store such things, here and below: each waits for what another holds only one way.
    for key, texts in sorted(given.items()):
        new = [NewSubmission(name, text, schedule.team, text.layers) for name, text in texts.items()]
        submitted[key] = store_submissions(connection, schedule.campaign_id, key, new)
    test_set_of: dict[int, int] = {}
    for key in sorted(given):
        labels = [each["references"] for each in schedule.test_sets if each["test_set_id"] == key]
        protocols = [NewProtocol(each, metrics, schedule.replicates, schedule.seed) for each in labels]
        test_set_of |= dict.fromkeys(store_protocols(connection, key, protocols), key)
    members: list[tuple[int, str]] = []
    for protocol, key in sorted(test_set_of.items()):
        # What an earlier night has measured is not measured again.
        queued = enqueue_evaluations(
            connection,
            settings,
            protocol,
            [*submitted[key], *_standing_baseline(connection, schedule, key, given[key])],
            queue_class=QueueClass.NIGHTLY,
            team=schedule.team,
        )
        members += zip(queued, given[key], strict=False)
    return members


def _standing_baseline(
    connection: Connection, schedule: ScheduleInfo, test_set_id: int, tonight: dict[str, Text]
) -> list[int]:
    """The submission of a baseline that has a name and is not among tonight's systems, if it is known."""
    baseline = schedule.baseline
    if baseline.kind != BaselineKind.NAMED or baseline.night is not None or baseline.system in tonight:
        return []
    last = (
        select(Submission.id)
        .join(System, System.id == Submission.system_id)
        .where(
            Submission.campaign_id == schedule.campaign_id,
            Submission.test_set_id == test_set_id,
            System.name == baseline.system,
            System.team == schedule.team,
        )
        .order_by(Submission.id.desc())
        .limit(1)
    )
    return list(connection.scalars(last))


def check_scores(engine: Engine, night_id: int) -> bool:
    """Go on with a night whose evaluations have ended; whether they had."""
    with reading(engine) as connection:
        members = _members(connection, night_id)
        progress = read_progress(connection, members)
        if progress.open or _baseline_is_open(connection, night_id):
            return False
        reasons = failure_reasons(connection, members)
    if not members:
        _fail(engine, night_id, "Its evaluations were deleted.")
    elif progress.failed or progress.cancelled:
        lost = f"{progress.failed} of {len(members)} evaluations failed" if progress.failed else ""
        if progress.cancelled:
            lost += f"{' and ' if lost else ''}{progress.cancelled} of {len(members)} were cancelled"
        _fail(engine, night_id, "\n".join([f"{lost}.", *reasons]))
    else:
        with writing(engine, durable=True) as connection:
            begin_judging(connection, night_id)
    return True


def _fail(engine: Engine, night_id: int, reason: str) -> None:
    """Fail a night whose evaluations cannot be judged."""
    with writing(engine, durable=True) as connection:
        if fail_night(connection, night_id, NightState.SCORING, reason):
            _say_failed(connection, night_id)


def _fail_step(engine: Engine, settings: Settings, step: ClaimedStep, reason: str) -> None:
    """Fail the night of a step, since trying again is pointless."""
    policy = NIGHT_STEP.policy(settings)
    with writing(engine, durable=True) as connection:
        if release(connection, NIGHT_STEP, step.key, step.owner, reason, policy, permanent=True):
            _say_failed(connection, step.night_id)


def _say_failed(connection: Connection, night_id: int) -> None:
    night = read_night(connection, night_id)
    schedule = read_schedule(connection, night.schedule_id)
    # The reason may quote a text, or what a command has said.
    log.warning("Schedule %s: the night of %s failed; `steelyard nightly history` says why", schedule.name, night.date)


def _members(connection: Connection, night_id: int) -> list[int]:
    chosen = select(NightEvaluation.evaluation_id).where(NightEvaluation.night_id == night_id)
    return list(connection.scalars(chosen.order_by(NightEvaluation.evaluation_id)))


def _baseline_is_open(connection: Connection, night_id: int) -> bool:
    """Whether a named baseline is still being measured."""
    night = read_night(connection, night_id)
    schedule = read_schedule(connection, night.schedule_id)
    if schedule.baseline.kind != BaselineKind.NAMED or schedule.baseline.night is not None:
        return False
    protocols = (
        select(Evaluation.protocol_id)
        .join(NightEvaluation, NightEvaluation.evaluation_id == Evaluation.id)
        .where(NightEvaluation.night_id == night_id)
    )
    still = (
        select(Evaluation.id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(System, System.id == Submission.system_id)
        .join(Protocol, Protocol.id == Evaluation.protocol_id)
        .where(
            Submission.campaign_id == schedule.campaign_id,
            System.name == schedule.baseline.system,
            System.team == schedule.team,
            Evaluation.protocol_id.in_(protocols),
            Evaluation.state.in_(OPEN),
        )
        .limit(1)
    )
    return connection.execute(still).first() is not None


def comparisons_are_open(engine: Engine, comparisons: Sequence[int]) -> bool:
    """Whether tests that a night waits for are still being made."""
    if not comparisons:
        return False
    with reading(engine) as connection:
        return bool(read_comparison_progress(connection, comparisons).open)


def judge(engine: Engine, settings: Settings, step: ClaimedStep) -> None:
    """Compare a night whose scores are there with its baseline, and end it.

    Where that takes randomization tests which are not stored yet, it asks for them, and the night is judged in another
    step.
    """
    from analysis.nightly.verdict import judge_night

    with reading(engine) as connection:
        night = read_night(connection, step.night_id)
        schedule = read_schedule(connection, night.schedule_id)
        failures = read_comparison_progress(connection, step.comparisons or ()).failures
    if failures:
        reason = " ".join(["The systems could not be compared.", *failures])
        _fail_step(engine, settings, step, reason)
        return
    if schedule.test == PairedTest.RANDOMIZATION and step.comparisons is None:
        asked = _ask_for_tests(engine, settings, schedule, step.night_id)
        if asked:
            with writing(engine, durable=True) as connection:
                complete(connection, NIGHT_STEP, step, Asked(asked))
            return
    with reading(engine) as connection:
        verdict = judge_night(connection, step.night_id)
    with writing(engine, durable=True) as connection:
        judged = Judged(verdict.as_json(), verdict.regressed)
        ended = complete(connection, NIGHT_STEP, step, judged)
    if ended.accepted:
        found = "something is worse" if verdict.regressed else "nothing is worse"
        log.info("Schedule %s: the night of %s is judged: %s.", schedule.name, night.date, found)


def _ask_for_tests(engine: Engine, settings: Settings, schedule: ScheduleInfo, night_id: int) -> list[int]:
    from analysis.nightly.verdict import wanted_tests
    from scheduler.enqueue.randomization import request_comparison

    with reading(engine) as connection:
        wanted = wanted_tests(connection, night_id)
    asked = [
        request_comparison(
            engine,
            settings,
            each.protocol_id,
            each.pairs,
            each.metrics,
            trials=each.trials,
            seed=each.seed,
            queue_class=QueueClass.NIGHTLY,
            team=schedule.team,
        )
        for each in wanted
    ]
    return [each for each in asked if each is not None]
