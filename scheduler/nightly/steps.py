"""The steps of a nightly run. Each is done by its lease's holder, who stores the outcome in one transaction.

An interrupted step has stored nothing, and is repeated by the next holder.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from datetime import date

from sqlalchemy import Connection, Engine, select

from models.corpus.test_sets import list_test_sets
from models.database.session import reading, writing
from models.nightly.runs import read_nightly_run
from models.nightly.schedules import ScheduleInfo, read_schedule
from models.nightly.transitions import begin_judging, fail_run
from models.queue.kinds.nightly_run_steps import NIGHTLY_STEP, Asked, ClaimedStep, Fetched, Judged
from models.queue.task_kind import complete, release
from models.queue_status.progress import failure_reasons, read_comparison_progress, read_progress
from models.schema.corpus import Protocol, Submission, System
from models.schema.nightly import NightlyRunEvaluation
from models.schema.queue import Evaluation
from models.schema.states import OPEN, BaselineKind, NightlyRunState, PairedTest, QueueClass, ResamplingUnit
from runtime.settings import Settings
from scheduler.enqueue.evaluations import enqueue_evaluations
from scheduler.errors import BadIngest, BadSource
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, store_protocols, store_submissions
from scheduler.nightly.sources import Source, WantedTestSet, outputs
from steelyard.errors import BadText
from steelyard.formats.plain import Text
from steelyard.metrics.registry import parse_metric

log = logging.getLogger(__name__)


class _TakenAway(Exception):
    """Another scheduler holds the run by now: the result must be discarded."""


def fetch(engine: Engine, settings: Settings, step: ClaimedStep, stop: threading.Event) -> None:
    """Get the outputs of a run and enqueue their evaluations, all or none.

    The run fails with a reason if the outputs are invalid.

    Raises
    ------
    CommandStopped
        If `stop` is set.
    """
    with reading(engine) as connection:
        nightly_run = read_nightly_run(connection, step.nightly_run_id)
        schedule = read_schedule(connection, nightly_run.schedule_id)
        titles = {each.id: each for each in list_test_sets(connection, schedule.campaign_id)}
    wanted = {
        each["test_set_id"]: WantedTestSet(titles[each["test_set_id"]].title, titles[each["test_set_id"]].segments)
        for each in schedule.test_sets
    }
    source = Source.from_json(schedule.source)
    try:
        if source.kind == "command" and not settings.schedule_commands:
            raise BadSource("Commands of schedules are disabled here by STEELYARD_SCHEDULE_COMMANDS.")
        with outputs(
            source,
            list(wanted.values()),
            schedule.metrics,
            schedule=schedule.name,
            day=date.fromisoformat(nightly_run.date),
            stop=stop,
            passed_on=settings.schedule_variables,
        ) as texts:
            given = {key: texts[test_set.title] for key, test_set in wanted.items()}
            # Here and not later: large texts are read from their files while they are stored.
            with writing(engine, durable=True) as connection:
                members = _store_outputs(connection, settings, schedule, given)
                # Last, so that renewing the lease does not have to wait for this transaction.
                if not complete(connection, NIGHTLY_STEP, step, Fetched(members)).accepted:
                    raise _TakenAway
    except _TakenAway:
        log.info("The run of %s was taken over by another scheduler.", nightly_run.date)
    except (BadSource, BadIngest, BadText) as error:
        _fail_step(engine, settings, step, str(error))


def _store_outputs(
    connection: Connection, settings: Settings, schedule: ScheduleInfo, given: dict[int, dict[str, Text]]
) -> list[tuple[int, str]]:
    """Store and enqueue outputs (by test set and system); the evaluations with their systems."""
    metrics = [parse_metric(each) for each in schedule.metrics]
    submitted: dict[int, list[int]] = {}
    # All transactions store in the same order, here and below, so that they cannot deadlock.
    for key, texts in sorted(given.items()):
        new = [NewSubmission(name, text, schedule.team, text.layers) for name, text in texts.items()]
        submitted[key] = store_submissions(connection, schedule.campaign_id, key, new)
    test_set_of: dict[int, int] = {}
    for key in sorted(given):
        protocols = [
            NewProtocol(
                *(each["references"], metrics, schedule.replicates, schedule.seed),
                ResamplingUnit(each.get("resample", ResamplingUnit.SEGMENT)),
            )
            for each in schedule.test_sets
            if each["test_set_id"] == key
        ]
        test_set_of |= dict.fromkeys(store_protocols(connection, key, protocols), key)
    members: list[tuple[int, str]] = []
    for protocol, key in sorted(test_set_of.items()):
        # Results of earlier runs are reused.
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
    connection: Connection, schedule: ScheduleInfo, test_set_id: int, fetched: dict[str, Text]
) -> list[int]:
    """The submission of a named baseline that is not among this run's systems, if there is one."""
    baseline = schedule.baseline
    if baseline.kind != BaselineKind.NAMED or baseline.date is not None or baseline.system in fetched:
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


def check_scores(engine: Engine, nightly_run_id: int) -> bool:
    """Advance a run whose evaluations have ended; whether they had."""
    with reading(engine) as connection:
        members = _members(connection, nightly_run_id)
        progress = read_progress(connection, members)
        if progress.open or _baseline_is_open(connection, nightly_run_id):
            return False
        reasons = failure_reasons(connection, members)
    if not members:
        _fail(engine, nightly_run_id, "Its evaluations were deleted.")
    elif progress.failed or progress.cancelled:
        lost = f"{progress.failed} of {len(members)} evaluations failed" if progress.failed else ""
        if progress.cancelled:
            lost += f"{' and ' if lost else ''}{progress.cancelled} of {len(members)} were cancelled"
        _fail(engine, nightly_run_id, "\n".join([f"{lost}.", *reasons]))
    else:
        with writing(engine, durable=True) as connection:
            begin_judging(connection, nightly_run_id)
    return True


def _fail(engine: Engine, nightly_run_id: int, reason: str) -> None:
    """Fail a run whose evaluations cannot be judged."""
    with writing(engine, durable=True) as connection:
        if fail_run(connection, nightly_run_id, NightlyRunState.SCORING, reason):
            _log_failure(connection, nightly_run_id)


def _fail_step(engine: Engine, settings: Settings, step: ClaimedStep, reason: str) -> None:
    """Fail the run of a step, since retrying is pointless."""
    policy = NIGHTLY_STEP.policy(settings)
    with writing(engine, durable=True) as connection:
        if release(connection, NIGHTLY_STEP, step.key, step.owner, reason, policy, permanent=True):
            _log_failure(connection, step.nightly_run_id)


def _log_failure(connection: Connection, nightly_run_id: int) -> None:
    nightly_run = read_nightly_run(connection, nightly_run_id)
    schedule = read_schedule(connection, nightly_run.schedule_id)
    # The reason may quote a text, or a command's output.
    log.warning(
        "Schedule %s: the run of %s failed; `steelyard schedule show` says why", schedule.name, nightly_run.date
    )


def _members(connection: Connection, nightly_run_id: int) -> list[int]:
    chosen = select(NightlyRunEvaluation.evaluation_id).where(NightlyRunEvaluation.nightly_run_id == nightly_run_id)
    return list(connection.scalars(chosen.order_by(NightlyRunEvaluation.evaluation_id)))


def _baseline_is_open(connection: Connection, nightly_run_id: int) -> bool:
    """Whether a named baseline is still being measured."""
    nightly_run = read_nightly_run(connection, nightly_run_id)
    schedule = read_schedule(connection, nightly_run.schedule_id)
    if schedule.baseline.kind != BaselineKind.NAMED or schedule.baseline.date is not None:
        return False
    protocols = (
        select(Evaluation.protocol_id)
        .join(NightlyRunEvaluation, NightlyRunEvaluation.evaluation_id == Evaluation.id)
        .where(NightlyRunEvaluation.nightly_run_id == nightly_run_id)
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
    """Whether tests that a run waits for are still running."""
    if not comparisons:
        return False
    with reading(engine) as connection:
        return bool(read_comparison_progress(connection, comparisons).open)


def judge(engine: Engine, settings: Settings, step: ClaimedStep) -> None:
    """Compare a run with its baseline, and finish it.

    If randomization tests are missing, they are requested, and another step judges the run.
    """
    from analysis.nightly.verdict import judge_nightly_run

    with reading(engine) as connection:
        nightly_run = read_nightly_run(connection, step.nightly_run_id)
        schedule = read_schedule(connection, nightly_run.schedule_id)
        failures = read_comparison_progress(connection, step.comparisons or ()).failures
    if failures:
        reason = " ".join(["The systems could not be compared.", *failures])
        _fail_step(engine, settings, step, reason)
        return
    if schedule.test == PairedTest.RANDOMIZATION and step.comparisons is None:
        asked = _ask_for_tests(engine, settings, schedule, step.nightly_run_id)
        if asked:
            with writing(engine, durable=True) as connection:
                complete(connection, NIGHTLY_STEP, step, Asked(asked))
            return
    with reading(engine) as connection:
        verdict = judge_nightly_run(connection, step.nightly_run_id)
    with writing(engine, durable=True) as connection:
        judged = Judged(verdict.as_json(), verdict.regressed)
        ended = complete(connection, NIGHTLY_STEP, step, judged)
    if ended.accepted:
        found = "something is worse" if verdict.regressed else "nothing is worse"
        log.info("Schedule %s: the run of %s was judged: %s.", schedule.name, nightly_run.date, found)


def _ask_for_tests(engine: Engine, settings: Settings, schedule: ScheduleInfo, nightly_run_id: int) -> list[int]:
    from analysis.nightly.tests import required_tests
    from scheduler.enqueue.randomization import request_comparison

    with reading(engine) as connection:
        required = required_tests(connection, nightly_run_id)
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
        for each in required
    ]
    return [each for each in asked if each is not None]
