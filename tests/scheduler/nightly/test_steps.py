"""The steps of a run, also when a scheduler dies in one, and what makes a run fail."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, delete, func, select, update

from models.database.session import make_engine, reading, writing
from models.errors import UnreadableSchedule
from models.nightly.runs import list_nightly_runs, read_nightly_run_members
from models.nightly.schedules import Baseline, find_schedule, list_schedules
from models.nightly.transitions import OpenRun, begin_run, find_open_runs
from models.queue.kinds.nightly_run_steps import NIGHTLY_STEP, ClaimedStep, waiting_steps
from models.schema.base import now
from models.schema.corpus import Protocol, Submission, System, Text
from models.schema.nightly import Delivery, NightlyRun, NightlyRunEvaluation, NightlyRunStep, Schedule
from models.schema.queue import Comparison, Evaluation, Trials
from models.schema.results import Randomization
from models.schema.states import BaselineKind, NightlyRunState, PairedTest, QueueClass, ResamplingUnit
from runtime.settings import Settings
from scheduler.enqueue.evaluations import enqueue_evaluations
from scheduler.errors import BadSchedule
from scheduler.ingest.campaigns import NewSubmission, store_campaign, store_submissions
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from scheduler.ingest.texts import text_hash
from scheduler.nightly import plan
from scheduler.nightly.cron import Calendar
from scheduler.nightly.plan import correct_plans, plan_due
from scheduler.nightly.runner import NightlyRunner
from scheduler.nightly.schedules import remove_schedule, request_nightly_run, store_baseline
from scheduler.nightly.sources import new_source
from scheduler.nightly.steps import check_scores, fetch
from tests.faults.cluster import until
from tests.scheduler.enqueue.test_randomization import work_off_trials
from tests.scheduler.jobs import similar_text
from tests.scheduler.nightly.nightly_runs import REFERENCE, SEGMENTS, add, due, nightly_runs, put, work_off
from tests.tasks import claim_task

GO = threading.Event()


def claimed(engine: Engine, owner: str, lease: float = 60.0) -> ClaimedStep:
    """Begin what is due, and claim the one step that waits, which must work."""
    with writing(engine) as connection:
        for nightly_run in find_open_runs(connection):
            if nightly_run.state == NightlyRunState.DUE:
                begin_run(connection, nightly_run)
        (waiting,) = waiting_steps(connection)
        given = {"owner": owner, "worker": "me", "lease_seconds": lease, "max_attempts": 9}
        step = claim_task(connection, NIGHTLY_STEP, waiting.key, **given)
    assert step is not None
    return step


def last_step(engine: Engine) -> tuple[str, int, str | None]:
    with reading(engine) as connection:
        columns = select(NightlyRunStep.state, NightlyRunStep.attempts, NightlyRunStep.owner)
        return tuple(connection.execute(columns.order_by(NightlyRunStep.id.desc()).limit(1)).one())


def amount(engine: Engine, table: type) -> int:
    with reading(engine) as connection:
        return connection.scalar(select(func.count()).select_from(table))


def test_two_runs_of_a_schedule_do_not_begin_at_once(database_url: str, tmp_path: Path) -> None:
    engine = make_engine(database_url)
    schedule = add(engine, tmp_path)
    with writing(engine) as connection:
        for _ in range(2):
            request_nightly_run(connection, "gate", "2026-03-02")
        first, second = find_open_runs(connection)
    begun, ready = [], threading.Barrier(2)

    def begin(nightly_run: OpenRun) -> None:
        mine = make_engine(database_url)
        ready.wait()
        with writing(mine) as connection:
            begun.append(begin_run(connection, nightly_run))

    threads = [threading.Thread(target=begin, args=(nightly_run,)) for nightly_run in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(begun) == [False, True]
    with reading(engine) as connection:
        assert find_open_runs(connection) == []
        (waiting,) = (each.id for each in list_nightly_runs(connection, schedule) if each.state == NightlyRunState.DUE)
    with writing(engine) as connection:
        connection.execute(update(NightlyRun).where(NightlyRun.id != waiting).values(state="failed"))
        assert [each.id for each in find_open_runs(connection)] == [waiting]


def failed(engine: Engine) -> str:
    ((state, reason, verdict),) = nightly_runs(engine, "state", "reason", "verdict")
    assert (state, verdict) == ("failed", None)
    return reason


def test_outputs_that_are_not_as_they_must_be_fail_the_run_and_store_nothing(sqlite_url: str, tmp_path: Path) -> None:
    engine, settings = make_engine(sqlite_url), Settings(database_url=sqlite_url, sweep_seconds=0.01)
    add(engine, tmp_path, webhook="https://example.org", webhook_secret="x")
    put(tmp_path, "2026-03-02", {"tug": 1})
    put(tmp_path, "2026-03-02", {"barge": 2, "raft": 3}, segments=7)
    plan_due(engine, due("2026-03-02"))
    fetch(engine, settings, claimed(engine, "me"), GO)
    reason = failed(engine)
    for system in ("barge", "raft"):
        assert f"{system}.txt: has 7 lines, but the test set trial has 60 segments." in reason
    assert amount(engine, Submission) == amount(engine, Evaluation) == 0
    assert amount(engine, Delivery) == 1


def test_what_fails_a_run_that_is_scored(sqlite_url: str, tmp_path: Path) -> None:
    engine, settings = make_engine(sqlite_url), Settings(database_url=sqlite_url, sweep_seconds=0.01)
    add(engine, tmp_path)
    put(tmp_path, "2026-03-02", {"tug": 1, "barge": 2, "raft": 3})
    plan_due(engine, due("2026-03-02"))
    step = claimed(engine, "me")
    nightly_run = step.nightly_run_id
    fetch(engine, settings, step, GO)
    with writing(engine) as connection:
        first, second, third = connection.scalars(select(Evaluation.id).order_by(Evaluation.id))
        connection.execute(update(Evaluation).where(Evaluation.id == first).values(state="failed", reason="No memory."))
        connection.execute(update(Evaluation).where(Evaluation.id == second).values(state="cancelled"))
    assert not check_scores(engine, nightly_run)
    with writing(engine) as connection:
        connection.execute(update(Evaluation).where(Evaluation.id == third).values(state="done"))
    assert check_scores(engine, nightly_run)
    assert failed(engine) == "1 of 3 evaluations failed and 1 of 3 were cancelled.\nNo memory."
    with writing(engine) as connection:
        connection.execute(update(NightlyRun).values(state="scoring"))
        connection.execute(update(Evaluation).where(Evaluation.id == first).values(state="done", reason=None))
    assert check_scores(engine, nightly_run)
    assert failed(engine) == "1 of 3 were cancelled."
    with writing(engine) as connection:
        connection.execute(update(NightlyRun).values(state="scoring"))
        connection.execute(update(Evaluation).where(Evaluation.id == second).values(state="failed"))
    assert check_scores(engine, nightly_run)
    assert failed(engine) == "1 of 3 evaluations failed."
    with writing(engine) as connection:
        connection.execute(update(NightlyRun).values(state="scoring"))
        connection.execute(delete(NightlyRunEvaluation))
    assert check_scores(engine, nightly_run)
    assert failed(engine) == "Its evaluations were deleted."


def test_a_baseline_with_a_name_is_measured_with_each_run(sqlite_url: str, tmp_path: Path) -> None:
    engine, settings = make_engine(sqlite_url), Settings(database_url=sqlite_url, sweep_seconds=0.01)
    for name in ("gate", "other"):
        add(engine, tmp_path, name=name, baseline=Baseline(BaselineKind.NAMED, "ferry"))
    with writing(engine) as connection:
        gate, other = (find_schedule(connection, name) for name in ("gate", "other"))
        key = gate.test_sets[0]["test_set_id"]
        assert store_baseline(connection, other, {}) == [key]
        for text in (similar_text(REFERENCE, 9), REFERENCE):
            assert store_baseline(connection, gate, {key: NewSubmission("ferry", text)}) == []
        # What is stored anywhere will do: the last one.
        assert store_baseline(connection, other, {}) == []
        assert store_baseline(connection, gate, {key: NewSubmission("barge", REFERENCE)}) == []
        nightly_run = request_nightly_run(connection, "other", "2026-03-02")
    put(tmp_path, "2026-03-02", {"tug": 1})
    fetch(engine, settings, claimed(engine, "me"), GO)
    with reading(engine) as connection:
        (member,) = read_nightly_run_members(connection, [nightly_run])[nightly_run]
        (ferry,) = connection.scalars(select(Evaluation.id).where(Evaluation.id != member.evaluation_id))
        of_ferry = select(System.name, Text.sha256).select_from(Evaluation).join(Submission).join(System).join(Text)
        assert connection.execute(of_ferry.where(Evaluation.id == ferry)).one() == ("ferry", text_hash(REFERENCE))
    with writing(engine) as connection:
        connection.execute(update(Evaluation).where(Evaluation.id == member.evaluation_id).values(state="done"))
    assert not check_scores(engine, nightly_run), "the baseline has no score yet"
    with writing(engine) as connection:
        connection.execute(update(Evaluation).where(Evaluation.id == ferry).values(state="done"))
    assert check_scores(engine, nightly_run)


def test_systems_of_its_name_elsewhere_are_not_the_baseline(sqlite_url: str, tmp_path: Path) -> None:
    """Those of another campaign, for another test set, of another team; nor is anything else waited for."""
    engine, settings = make_engine(sqlite_url), Settings(database_url=sqlite_url)
    for name in ("gate", "other"):
        add(engine, tmp_path, name=name, baseline=Baseline(BaselineKind.NAMED, "ferry"))
    with writing(engine) as connection:
        gate, other = (find_schedule(connection, name) for name in ("gate", "other"))
        key = gate.test_sets[0]["test_set_id"]
        store_baseline(connection, gate, {key: NewSubmission("ferry", REFERENCE)})
        second = store_test_set(connection, gate.campaign_id, NewTestSet("second", {"A": similar_text(REFERENCE, 5)}))
        elsewhere = [
            (other.campaign_id, key, "ferry", gate.team),
            (gate.campaign_id, key, "ferry", "rivals"),
            (gate.campaign_id, key, "raft", gate.team),
            (gate.campaign_id, second, "ferry", gate.team),
        ]
        stored: list[int] = []
        for number, (campaign, test_set, system, team) in enumerate(elsewhere):
            new = NewSubmission(system, similar_text(REFERENCE, 20 + number), team)
            stored += store_submissions(connection, campaign, test_set, [new])
        nightly_run = request_nightly_run(connection, "gate", "2026-03-02")
    put(tmp_path, "2026-03-02", {"tug": 1})
    fetch(engine, settings, claimed(engine, "me"), GO)
    with writing(engine) as connection:
        (member,) = read_nightly_run_members(connection, [nightly_run])[nightly_run]
        measured = {row.id: row.submission_id for row in connection.execute(select(Evaluation))}
        assert len(measured) == 2
        assert not {*measured.values()} & {*stored}
        enqueue_evaluations(connection, settings, member.protocol_id, stored[:3])
        connection.execute(update(Evaluation).where(Evaluation.id.in_(measured)).values(state="done"))
    assert check_scores(engine, nightly_run)


def rounds(context: NightlyRunner, condition: object, what: str) -> None:
    def once() -> bool:
        context.run_once()
        return condition()

    until(once, what)


def ended(engine: Engine) -> bool:
    return nightly_runs(engine, "state")[-1][0] in ("done", "failed")


def score_night(context: NightlyRunner, settings: Settings, engine: Engine, folder: Path, day: str, seed: int) -> None:
    """Run the schedule for a day by hand, until its outputs are scored."""
    put(folder, day, {"tug": seed})
    with writing(engine) as connection:
        connection.execute(update(Schedule).values(next_at=None))
        request_nightly_run(connection, "gate", day)
    rounds(context, lambda: nightly_runs(engine, "state")[-1][0] == "scoring", "the outputs")
    work_off(settings)


def test_randomization_tests_are_made_first(sqlite_url: str, tmp_path: Path) -> None:
    settings = Settings(database_url=sqlite_url, at_once_seconds=0.0, sweep_seconds=0.01)
    engine = make_engine(sqlite_url)
    add(engine, tmp_path, test=PairedTest.RANDOMIZATION)
    context = NightlyRunner(settings)
    for day, seed in (("2026-03-02", 1), ("2026-03-03", 2)):
        score_night(context, settings, engine, tmp_path, day, seed)
        if seed == 2:
            rounds(context, lambda: nightly_runs(engine, "comparisons")[-1][0], "the question for tests")
            assert amount(engine, Comparison) == 1
            with reading(engine) as connection:
                asked = connection.execute(select(Trials.queue_class).distinct()).all()
            assert [tuple(each) for each in asked] == [(QueueClass.NIGHTLY,)], (
                "nobody waits for it as for his own comparison"
            )
            assert nightly_runs(engine, "state")[-1] == ("judging",)
            assert last_step(engine) == ("pending", 0, None)
            assert not ended(engine)
            work_off_trials(settings)
        rounds(context, lambda: ended(engine), "the verdict")
    context.stop()
    assert [each[0] for each in nightly_runs(engine, "state")] == ["done", "done"]
    assert amount(engine, Randomization) == 1
    assert amount(engine, Trials) > 0


def test_a_run_whose_tests_fail_fails_with_their_reasons(sqlite_url: str, tmp_path: Path) -> None:
    settings = Settings(database_url=sqlite_url, at_once_seconds=0.0, sweep_seconds=0.01)
    engine = make_engine(sqlite_url)
    add(engine, tmp_path, test=PairedTest.RANDOMIZATION)
    context = NightlyRunner(settings)
    for day, seed in (("2026-03-02", 1), ("2026-03-03", 2)):
        score_night(context, settings, engine, tmp_path, day, seed)
        if seed == 2:
            rounds(context, lambda: nightly_runs(engine, "comparisons")[-1][0], "the question for tests")
            with writing(engine) as connection:
                connection.execute(update(Comparison).values(state="failed", reason="No memory.", finished_at=now()))
        rounds(context, lambda: ended(engine), "the verdict")
    context.stop()
    assert nightly_runs(engine, "state", "reason") == [
        ("done", None),
        ("failed", "The systems could not be compared. No memory."),
    ]


@pytest.mark.parametrize(
    ("asked", "of_segment", "unit"),
    [
        (None, lambda segment: f"talk {segment}", "document"),
        (None, lambda segment: f"talk {segment // 2}", "segment"),
        (None, None, "segment"),
        (ResamplingUnit.SEGMENT, lambda segment: f"talk {segment}", "segment"),
        (ResamplingUnit.DOCUMENT, lambda segment: f"talk {segment // 2}", "document"),
    ],
)
def test_verdicts_are_by_document_where_there_are_enough(
    asked: ResamplingUnit | None, of_segment: Callable[[int], str] | None, unit: str, sqlite_url: str, tmp_path: Path
) -> None:
    engine = make_engine(sqlite_url)
    named = [(of_segment(segment), "", "") for segment in range(SEGMENTS)] if of_segment else []
    with writing(engine) as connection:
        test_set = NewTestSet("trial", {"A": REFERENCE}, documents=named)
        key = store_test_set(connection, store_campaign(connection, "gate"), test_set)
    add(engine, tmp_path, resample=asked, test_set=key)
    put(tmp_path, "2026-03-02", {"tug": 1})
    with writing(engine) as connection:
        connection.execute(update(Schedule).values(next_at=None))
        request_nightly_run(connection, "gate", "2026-03-02")
    context = NightlyRunner(Settings(database_url=sqlite_url, at_once_seconds=0.0, sweep_seconds=0.01))
    rounds(context, lambda: nightly_runs(engine, "state")[-1][0] == "scoring", "the outputs")
    context.stop()
    with reading(engine) as connection:
        assert connection.scalars(select(Protocol.resample)).all() == [unit]


def test_documents_that_there_are_not_cannot_be_asked_for(sqlite_url: str, tmp_path: Path) -> None:
    with pytest.raises(BadSchedule, match="Resample segments"):
        add(make_engine(sqlite_url), tmp_path, resample=ResamplingUnit.DOCUMENT)


@pytest.mark.parametrize("state", ["due", "scoring"])
def test_a_run_that_cannot_be_read_stops_no_other(state: str, sqlite_url: str, tmp_path: Path) -> None:
    """Its schedule was written by another release, which knew baselines that this one does not."""
    engine = make_engine(sqlite_url)
    settings = Settings(database_url=sqlite_url, retry_seconds=0.0, max_attempts=2, sweep_seconds=0.01)
    strange = add(engine, tmp_path, name="strange", webhook="https://example.org", webhook_secret="x")
    add(engine, tmp_path, name="healthy")
    put(tmp_path, "2026-03-02", {"tug": 1})
    plan_due(engine, due("2026-03-02"))
    with writing(engine) as connection:
        connection.execute(update(Schedule).values(next_at=None))
        connection.execute(update(Schedule).where(Schedule.id == strange).values(baseline={"kind": "median"}))
        connection.execute(update(NightlyRun).where(NightlyRun.schedule_id == strange).values(state=state))
    context = NightlyRunner(settings)

    def states() -> list[tuple[object, ...]]:
        return nightly_runs(engine, "state")

    rounds(context, lambda: states() == [("failed",), ("scoring",)], "one to fail and one to be fetched")
    work_off(settings)
    rounds(context, lambda: states() == [("failed",), ("done",)], "the healthy one")
    assert "'median' is not a valid BaselineKind" in nightly_runs(engine, "reason")[0][0]

    def told() -> str | None:
        context.run_once()
        with reading(engine) as connection:
            return connection.scalar(select(Delivery.error))

    # Nor can anybody be notified of it; it is tried again, and does not keep back other messages.
    assert "The message could not be written: UnreadableSchedule: " in until(told, "an attempt to tell")
    context.stop()
    with writing(engine) as connection:
        # It is left out where all are listed (`steelyard up` looks at them all the time), and can be removed.
        assert [each.name for each in list_schedules(connection)] == ["healthy"]
        with pytest.raises(UnreadableSchedule, match="`steelyard schedule delete strange` and add it again"):
            find_schedule(connection, "strange")
        remove_schedule(connection, "strange", forget=False)
        assert connection.scalar(select(Schedule.active).where(Schedule.id == strange)) is False


def test_a_schedule_that_cannot_be_planned_stops_no_other(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine(sqlite_url)
    strange = add(engine, tmp_path, name="strange")
    add(engine, tmp_path, name="healthy")
    with writing(engine) as connection:
        connection.execute(update(Schedule).where(Schedule.id == strange).values(time_zone="Mars/Olympus"))

    def calendar(cron: str, zone: str) -> Calendar:
        if zone == "Mars/Olympus":
            raise RuntimeError("nobody thought of that")
        return Calendar(cron, zone)

    monkeypatch.setattr(plan, "Calendar", calendar)
    assert correct_plans(engine, due("2026-03-01")) == 0
    assert plan_due(engine, due("2026-03-02")) == 1
    assert nightly_runs(engine, "state") == [("due",)]


def test_commands_can_be_forbidden(sqlite_url: str, tmp_path: Path) -> None:
    settings, engine = Settings(database_url=sqlite_url, schedule_commands=False), make_engine(sqlite_url)
    add(engine, tmp_path, source=new_source(None, "touch done", 600.0, tmp_path, ["trial"]))
    with writing(engine) as connection:
        request_nightly_run(connection, "gate", None)
    fetch(engine, settings, claimed(engine, "me"), GO)
    assert "STEELYARD_SCHEDULE_COMMANDS" in failed(engine)
    assert not (tmp_path / "done").exists()
