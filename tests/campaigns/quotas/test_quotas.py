"""What teams hand in, against quotas: counted once, given back where it was lost, and never past a limit."""

import itertools
import multiprocessing
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import Connection, Engine, delete, func, insert, select, update

from campaigns.quotas.errors import BadQuota, QuotaUsedUp
from campaigns.quotas.quotas import day_of, read_team_quotas, remove_quotas, set_phase
from campaigns.quotas.rules import QuotaScope, list_quotas, quotas_of
from campaigns.quotas.usage import QuotaUsage
from campaigns.quotas.usage_log import lock_quota_account, read_usage_entries, record_usage
from campaigns.submissions.errors import ReusedKey
from campaigns.submissions.submit import MAX_DESCRIPTION_LENGTH, MAX_KEY_LENGTH, SubmitResult, submissions_ahead, submit
from metrics import parse_metric
from models.corpus.campaign_protocols import find_campaign
from models.database.session import make_engine, reading, writing
from models.errors import NotFound
from models.queue.evaluation_end import cancel_evaluations, fail_evaluations
from models.queue.kinds.shards import SHARD
from models.schema.accounts import Team
from models.schema.base import now
from models.schema.campaigns import Campaign, Participation, Phase, Quota, SubmissionRequest, UsageLogEntry
from models.schema.corpus import Protocol, Submission, Text
from models.schema.queue import Evaluation, Shard
from models.schema.roles import Feedback, PhaseKind
from models.schema.states import Fault, LeaseState, QueueClass, QuotaKind
from runtime.settings import Settings
from scheduler.admin import cancel, retry
from scheduler.errors import BadIngest, BadSchedule
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, NewTestSet, ingest_campaign
from tests.campaigns.quotas.quotas import CAMPAIGN, attempt, limit, open_campaign, standings, used
from tests.scheduler.jobs import one_block_shards, queue_job, some_text, work_off
from tests.statements import caught
from tests.tasks import claim_task, release_task

IN_FLIGHT, PER_DAY, PER_PHASE = QuotaKind

one_kind = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Where databases cannot differ."""


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = make_engine(database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def settings(engine: Engine, database_url: str) -> Settings:
    settings = one_block_shards(database_url)
    open_campaign(engine, settings)
    return settings


def count(engine: Engine, table: type) -> int:
    with reading(engine) as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def refused(engine: Engine, settings: Settings, seed: int, **others: object) -> str:
    before = [count(engine, table) for table in (Submission, Text, Evaluation, UsageLogEntry)]
    with pytest.raises(QuotaUsedUp) as error:
        submit(engine, settings, attempt(seed, **others))
    assert [count(engine, table) for table in (Submission, Text, Evaluation, UsageLogEntry)] == before
    return str(error.value)


def fail(engine: Engine, submitted: SubmitResult, fault: Fault) -> None:
    with writing(engine) as connection:
        failed = fail_evaluations(connection, submitted.evaluations, "The disk is full.", fault=fault)
    assert failed == list(submitted.evaluations)


@pytest.mark.parametrize(
    ("zone", "moment", "day", "begin", "hours"),
    [
        ("UTC", "2026-11-22T23:59:59+00:00", "2026-11-22", "2026-11-22T00:00+00:00", 24),
        ("Europe/Prague", "2026-11-21T23:00:00+00:00", "2026-11-22", "2026-11-22T00:00+01:00", 24),
        ("Europe/Prague", "2026-10-25T23:30+01:00", "2026-10-25", "2026-10-25T00:00+02:00", 25),
        ("Europe/Prague", "2026-03-29T12:00+02:00", "2026-03-29", "2026-03-29T00:00+01:00", 23),
        # The clocks go from 0 to 1 there: the day begins at 1, and the day before it ends then.
        ("America/Santiago", "2025-09-07T01:00-03:00", "2025-09-07", "2025-09-07T01:00-03:00", 23),
        ("America/Santiago", "2025-09-06T23:59-04:00", "2025-09-06", "2025-09-06T00:00-04:00", 24),
        # The hour before midnight came twice.
        ("America/Santiago", "2025-04-05T23:30-04:00", "2025-04-05", "2025-04-05T00:00-03:00", 25),
        # There was no 30th.
        ("Pacific/Apia", "2011-12-29T12:00-10:00", "2011-12-29", "2011-12-29T00:00-10:00", 24),
    ],
)
def test_days_begin_and_end_by_the_clocks_of_the_place(zone, moment, day, begin, hours):
    found = day_of(datetime.fromisoformat(moment).timestamp(), zone)
    assert found.date.isoformat() == day
    assert found.begin == datetime.fromisoformat(begin).timestamp()
    assert found.end - found.begin == 3600 * hours


ROUNDS = 12
RIVALS = 3


def rival(url: str, number: int, barrier: "multiprocessing.synchronize.Barrier", results: object) -> None:
    """Submit for the same team at the same moment as the others, round by round."""
    engine, settings = make_engine(url, pooled=False), one_block_shards(url)
    for team in range(ROUNDS):
        mine = attempt(RIVALS * team + number, team=f"team{team}")
        barrier.wait(60)
        try:
            submit(engine, settings, mine)
            results.put((team, "in"))
        except QuotaUsedUp:
            results.put((team, "out"))
        except Exception as error:
            results.put((team, repr(error)))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_of_uploads_at_the_same_moment_one_passes_a_limit_of_one(
    engine: Engine, settings: Settings, database_url: str
) -> None:
    limit(engine, {PER_DAY: 1})
    with writing(engine) as connection:
        trial = find_campaign(connection, CAMPAIGN)
        for team in range(ROUNDS):
            # Else they would wait for each other only because all want to make it.
            lock_quota_account(connection, trial, f"team{team}")
    engine.dispose()
    fork = multiprocessing.get_context("fork")
    barrier, results = fork.Barrier(RIVALS), fork.Queue()
    rivals = [fork.Process(target=rival, args=(database_url, number, barrier, results)) for number in range(RIVALS)]
    for process in rivals:
        process.start()
    found = sorted(results.get(timeout=120) for _ in range(ROUNDS * RIVALS))
    for process in rivals:
        process.join(60)
    expected = [(team, "in" if first else "out") for team in range(ROUNDS) for first in (1, *[0] * (RIVALS - 1))]
    assert found == sorted(expected)
    assert count(engine, UsageLogEntry) == ROUNDS
    assert count(engine, Submission) == 1 + ROUNDS


def test_what_the_platform_loses_is_given_back_and_charged_again_when_it_is_tried_again(
    engine: Engine, settings: Settings
) -> None:
    limit(engine, {PER_DAY: 2, IN_FLIGHT: 1})
    first = submit(engine, settings, attempt(1))
    assert used(engine) == (1, 1, 1)
    message = refused(engine, settings, 2)
    assert message == (
        f"Team harbour has used 1 of 1 submission in flight (number {first.submission}); the next is possible when one "
        "of them has ended."
    )
    fail(engine, first, Fault.PLATFORM)
    assert used(engine) == (0, 0, 0)
    with reading(engine) as connection:
        (account,) = read_team_quotas(connection, "harbour")
    assert [(each.submission_id, each.reason) for each in account.given_back] == [
        (first.submission, "The disk is full.")
    ]
    assert retry(engine, settings, list(first.evaluations)) == list(first.evaluations)
    assert used(engine) == (1, 1, 1)
    work_off(settings)
    assert used(engine) == (0, 1, 1)
    second = submit(engine, settings, attempt(2))
    fail(engine, second, Fault.INPUT)
    assert used(engine) == (0, 2, 2)
    day = standings(engine)[PER_DAY].day
    assert refused(engine, settings, 3) == (
        f"Team harbour has used 2 of 2 submissions of {day.date} (UTC); the next is possible from "
        f"{datetime.fromtimestamp(day.end, UTC):%Y-%m-%d} 00:00."
    )


@pytest.mark.parametrize("permanent", [True, False])
@one_kind
def test_whose_fault_it_is(engine: Engine, settings: Settings, permanent: bool) -> None:
    """An error that comes again whoever tries is that of the input; a shard that is lost three times is not."""
    work_off(settings)
    submitted = submit(engine, settings, attempt(1))
    with writing(engine) as connection:
        shard = connection.execute(select(Shard.id).where(Shard.state == LeaseState.PENDING)).scalar_one()
        claim_task(connection, SHARD, shard, owner="o", worker="w", lease_seconds=60, max_attempts=1)
        assert release_task(
            connection, SHARD, shard, "o", "It broke.", max_attempts=1, delay_seconds=0, permanent=permanent
        )
    with reading(engine) as connection:
        row = connection.execute(
            select(Evaluation.state, Evaluation.fault).where(Evaluation.id.in_(submitted.evaluations))
        )
        assert row.one() == ("failed", "input" if permanent else "platform")
    assert used(engine) == ((0, 1, 1) if permanent else (0, 0, 0))


@pytest.mark.parametrize("counts", [True, False])
@one_kind
def test_what_is_cancelled_is_given_back_unless_it_is_to_count(
    engine: Engine, settings: Settings, counts: bool
) -> None:
    submitted = submit(engine, settings, attempt(1))
    assert cancel(engine, list(submitted.evaluations), counts=counts) == list(submitted.evaluations)
    assert used(engine) == ((0, 1, 1) if counts else (0, 0, 0))
    retry(engine, settings, list(submitted.evaluations))
    cancel(engine, list(submitted.evaluations))
    assert used(engine) == (0, 0, 0), "it does not stay as it was the first time"


def test_the_very_same_again_costs_nothing(engine: Engine, settings: Settings) -> None:
    limit(engine, {PER_DAY: 1, IN_FLIGHT: 1})
    first = submit(engine, settings, attempt(1))
    again = submit(engine, settings, attempt(1))
    assert (again.submission, again.evaluations) == (first.submission, first.evaluations)
    assert (first.stored, first.queued, again.stored, again.queued) == (True, True, False, False)
    work_off(settings)
    assert submit(engine, settings, attempt(1)).submission == first.submission
    assert used(engine) == (0, 1, 1)
    assert "of the phase" not in refused(engine, settings, 1, system="boom"), "another system is another submission"
    assert refused(engine, settings, 1, run="2")


@one_kind
def test_what_was_given_back_needs_room_to_be_handed_in_again(engine: Engine, settings: Settings) -> None:
    limit(engine, {PER_DAY: 1})
    lost = submit(engine, settings, attempt(1))
    fail(engine, lost, Fault.PLATFORM)
    submit(engine, settings, attempt(2))
    refused(engine, settings, 1)
    limit(engine, {PER_DAY: 2})
    with writing(engine) as connection:
        moved = UsageLogEntry.submission_id == lost.submission
        connection.execute(update(UsageLogEntry).where(moved).values(created_at=UsageLogEntry.created_at - 2 * 86400))
    again = submit(engine, settings, attempt(1))
    assert (again.submission, again.stored, again.queued) == (lost.submission, False, True)
    assert used(engine) == (2, 2, 2), "it counts for the day on which it was handed in again"


@one_kind
def test_what_counts_already_needs_only_room_in_flight(engine: Engine, settings: Settings) -> None:
    limit(engine, {PER_DAY: 2, IN_FLIGHT: 1})
    bad = submit(engine, settings, attempt(1))
    fail(engine, bad, Fault.INPUT)
    submit(engine, settings, attempt(2))
    assert "in flight" in refused(engine, settings, 1)
    work_off(settings)
    mine = UsageLogEntry.submission_id == bad.submission
    with writing(engine) as connection:
        connection.execute(update(UsageLogEntry).where(mine).values(created_at=5.0, phase="before"))
    assert submit(engine, settings, attempt(1)).queued
    assert used(engine) == (1, 1, 1), "it counts for the day and the phase in which it was made"
    with reading(engine) as connection:
        assert connection.execute(select(UsageLogEntry.created_at, UsageLogEntry.phase).where(mine)).one() == (
            5.0,
            "before",
        )


@one_kind
def test_a_retry_by_the_organisers_is_not_held_up_by_quotas(engine: Engine, settings: Settings) -> None:
    limit(engine, {PER_DAY: 1})
    lost = submit(engine, settings, attempt(1))
    fail(engine, lost, Fault.PLATFORM)
    submit(engine, settings, attempt(2))
    retry(engine, settings, list(lost.evaluations))
    assert used(engine) == (2, 2, 2)
    assert refused(engine, settings, 3).startswith("Team harbour has used 2 of 1 submission of ")


def test_a_request_with_a_key_is_done_once(engine: Engine, settings: Settings) -> None:
    first = submit(engine, settings, attempt(1, request_key="a"))
    fail(engine, first, Fault.PLATFORM)
    again = submit(engine, settings, attempt(1, request_key="a"))
    assert (again.submission, again.queued) == (first.submission, False), "what came of it is left as it is"
    with pytest.raises(
        ReusedKey, match=f'The key "a" was already used for submission {first.submission} of team harbour'
    ):
        submit(engine, settings, attempt(2, request_key="a"))
    assert count(engine, Submission) == 2
    assert submit(engine, settings, attempt(1, request_key="b")).queued
    with pytest.raises(ReusedKey):
        submit(engine, settings, attempt(3, request_key="b"))
    assert submit(engine, settings, attempt(4, team="other", request_key="a")).stored, "keys are those of a team"
    for key in ("", "k" * 201):
        with pytest.raises(BadIngest, match="cannot be the key of a request"):
            submit(engine, settings, attempt(5, request_key=key))


@one_kind
def test_one_text_is_as_many_submissions_as_it_is_handed_in_for(engine: Engine, settings: Settings) -> None:
    """By a team, for a system, as a run, for a test set, in a campaign; and keys are those of a team in a campaign."""
    queue_job(engine, settings, segments=6, systems=1, seed=9)
    queue_job(engine, settings, segments=6, systems=1, campaign="elsewhere")
    one = attempt(1, test_set="trial@1")
    attempts = [
        one,
        replace(one, team="other"),
        replace(one, system="boom"),
        replace(one, run="2"),
        replace(one, test_set="trial@2"),
        replace(one, campaign="elsewhere", test_set=None),
    ]
    found = [submit(engine, settings, each) for each in attempts]
    assert all(each.stored and each.queued for each in found)
    assert len({each.submission for each in found}) == len({each.evaluations for each in found}) == len(attempts)
    again = [submit(engine, settings, each) for each in attempts]
    assert [(each.submission, each.stored) for each in again] == [(each.submission, False) for each in found]
    for number in (0, 1, 5):
        with_key = submit(engine, settings, replace(attempts[number], request_key="k"))
        assert with_key.submission == found[number].submission
    with pytest.raises(ReusedKey):
        submit(engine, settings, replace(attempts[2], request_key="k"))


@one_kind
def test_what_organisers_add_later_changes_nothing_for_teams(engine: Engine, settings: Settings) -> None:
    submitted = submit(engine, settings, attempt(1))
    work_off(settings)
    text = attempt(1).text.bytes
    later = ingest_campaign(
        engine,
        settings,
        campaign=CAMPAIGN,
        test_set=NewTestSet("trial", {"A": some_text(6, 1)}),
        submissions=[NewSubmission("mast", text, "harbour")],
        protocols=[NewProtocol(["A"], [parse_metric("chrf")], 5)],
    )
    assert later.submissions == (submitted.submission,)
    assert used(engine) == (0, 1, 1)
    with writing(engine) as connection:
        fail_evaluations(connection, later.all_evaluations, "The disk is full.")
    assert used(engine) == (0, 1, 1)
    # From now on the campaign measures by that, too: what the team itself asks for is its own.
    assert len(submit(engine, settings, attempt(1)).evaluations) == 2
    assert used(engine) == (1, 1, 1)


@one_kind
def test_what_is_lost_twice_is_given_back_when_it_was_lost_first(engine: Engine, settings: Settings) -> None:
    """With the reason of then. What is open or the team's own fault has no part in it, nor what was added later."""
    submitted = submit(engine, settings, attempt(1))
    lost = {"state": "failed", "fault": Fault.PLATFORM}
    ended = [
        (30.0, {**lost, "reason": "later"}),
        (20.0, {**lost, "reason": "first", "fault": None}),
        (10.0, {**lost, "reason": "odd", "fault": Fault.INPUT}),
        (5.0, {"state": "done"}),
        (2.0, {**lost, "reason": "added", "created_at": now() + 1000}),
    ]
    with writing(engine) as connection:
        for number, (finished_at, values) in enumerate(ended):
            add_evaluation(connection, submitted, number, finished_at=finished_at, **values)
        (entry,) = read_usage_entries(connection, connection.scalar(select(Campaign.id)), "harbour")
    assert (entry.open, entry.given_back_at, entry.reason) == (True, 20.0, "first")


@one_kind
def test_whatever_the_clock_does_an_entry_is_not_older_than_its_evaluations(engine: Engine, settings: Settings) -> None:
    """Else it would not be known that the team asked for them."""
    submitted = submit(engine, settings, attempt(1))
    with writing(engine) as connection:
        for number, created_at in enumerate((5.0, 1e13)):
            add_evaluation(connection, submitted, number, created_at=created_at)
        account = lock_quota_account(connection, find_campaign(connection, CAMPAIGN), "harbour")
        record_usage(connection, account, submitted.submission, "", at=None)
        assert connection.scalars(select(UsageLogEntry.queued_at)).all() == [1e13]


def add_evaluation(connection: Connection, submitted: SubmitResult, number: int, **values: object) -> None:
    """By a protocol of its own, like the first one of the submission."""
    ours = select(Evaluation.__table__).where(Evaluation.id == submitted.evaluations[0])
    row = dict(connection.execute(ours).one()._mapping)
    protocol = connection.execute(select(Protocol.__table__)).first()._mapping
    other = {**protocol, "id": 100 + number, "content_hash": str(number)}
    connection.execute(insert(Protocol).values(**other))
    connection.execute(insert(Evaluation).values(**{**row, "id": 100 + number, "protocol_id": 100 + number, **values}))


@one_kind
def test_a_quota_that_is_set_again_or_removed_is_that_of_its_scope(engine: Engine, settings: Settings) -> None:
    queue_job(engine, settings, segments=6, systems=1, campaign="other", seed=3)
    scopes = [(None, "", ""), *itertools.product((CAMPAIGN, "other"), ("", "t"), ("", "p"))]
    with writing(engine) as connection:
        numbers = {None: None, **{name: find_campaign(connection, name) for name in (CAMPAIGN, "other")}}
    expected = {}
    for amount, kinds in ((1, (PER_DAY, IN_FLIGHT)), (20, (PER_DAY,))):
        for number, (campaign, team, phase) in enumerate(scopes):
            limit(engine, dict.fromkeys(kinds, amount + number), campaign=campaign, team=team, phase=phase)
            whose = QuotaScope(numbers[campaign], team, phase)
            expected |= {(whose, kind): amount + number for kind in kinds}
            assert quotas(engine) == expected
    for whose in {scope for scope, _ in expected}:
        with writing(engine) as connection:
            (removed,) = remove_quotas(connection, whose, [IN_FLIGHT])
        assert (removed.scope, removed.kind) == (whose, IN_FLIGHT)
        del expected[whose, IN_FLIGHT]
        assert quotas(engine) == expected


def quotas(engine: Engine) -> dict[tuple[QuotaScope, QuotaKind], int | None]:
    with reading(engine) as connection:
        return {(each.scope, each.kind): each.amount for each in list_quotas(connection)}


@one_kind
def test_the_most_specific_quota_of_each_kind_holds(engine: Engine, settings: Settings) -> None:
    def amounts(team: str) -> list[int | None]:
        return [each.amount for each in standings(engine, team).values()]

    queue_job(engine, settings, segments=6, systems=1, campaign="other")
    limit(engine, {IN_FLIGHT: 9, PER_DAY: 9, PER_PHASE: 9}, campaign=None)
    assert amounts("harbour") == [9, 9, 9]
    limit(engine, {PER_DAY: 8}, time_zone="Europe/Prague")
    limit(engine, {PER_DAY: 5, PER_PHASE: 5}, phase="final")
    limit(engine, {PER_DAY: 1}, campaign="other")
    assert amounts("harbour") == [9, 8, 9]
    limit(engine, {PER_DAY: None, PER_PHASE: 7}, team="harbour")
    assert amounts("harbour") == [9, None, 7]
    assert amounts("other") == [9, 8, 9]
    with writing(engine) as connection:
        set_phase(connection, CAMPAIGN, "final")
    assert amounts("other") == [9, 5, 5]
    assert amounts("harbour") == [9, None, 7], "what is said of a team is more than what is said of a phase"
    assert standings(engine)[PER_DAY].day.time_zone == "Europe/Prague", "as for the quota before it"
    limit(engine, {PER_DAY: 3}, team="harbour")
    assert amounts("harbour") == [9, 3, 7]
    with writing(engine) as connection:
        scope = QuotaScope(
            connection.execute(select(Campaign.id).where(Campaign.name == CAMPAIGN)).scalar_one(), "harbour"
        )
        assert [each.amount for each in remove_quotas(connection, scope, [PER_PHASE])] == [7]
        assert len(remove_quotas(connection, scope)) == 1
        with pytest.raises(NotFound, match="There is no such quota"):
            remove_quotas(connection, scope)
    assert amounts("harbour") == [9, 5, 5]
    with reading(engine) as connection:
        assert len(list_quotas(connection)) == 7


def test_a_quota_for_what_the_campaign_does_not_have_is_refused(engine: Engine, settings: Settings) -> None:
    """Where its phases and teams are known; else any name may come to mean something."""
    submit(engine, settings, attempt(1))
    limit(engine, {PER_PHASE: 1}, phase="anything", team="anybody")
    with writing(engine) as connection:
        campaign = connection.execute(select(Campaign.id).where(Campaign.name == CAMPAIGN)).scalar_one()
        phase = {"campaign_id": campaign, "name": "Test", "kind": "open", "starts_at": 1.0}
        connection.execute(insert(Phase).values(**phase))
        team = connection.execute(
            insert(Team).values(name="harbour", folded_name="harbour").returning(Team.id)
        ).scalar_one()
        connection.execute(insert(Participation).values(campaign_id=campaign, team_id=team, number=1))
    with pytest.raises(BadQuota, match=r"no phase 'test'\. There are: Test"):
        limit(engine, {PER_PHASE: 1}, phase="test")
    with pytest.raises(BadQuota, match=r"no team 'guests'\. There are: harbour"):
        limit(engine, {PER_PHASE: 1}, team="guests")
    limit(engine, {PER_PHASE: 1}, phase="Test", team="harbour")
    limit(engine, {PER_PHASE: 1})


def test_phases_are_counted_apart(engine: Engine, settings: Settings) -> None:
    limit(engine, {PER_PHASE: 1})
    limit(engine, {PER_PHASE: 0}, phase="closed")
    submit(engine, settings, attempt(1))
    assert refused(engine, settings, 2) == (
        "Team harbour has used 1 of 1 submission of the campaign; the next is possible in another phase."
    )
    with writing(engine) as connection:
        set_phase(connection, CAMPAIGN, "final")
    submit(engine, settings, attempt(2))
    assert '1 of 1 submission of the phase "final"' in refused(engine, settings, 3)
    with writing(engine) as connection:
        set_phase(connection, CAMPAIGN, "closed")
    assert refused(engine, settings, 3) == 'Team harbour may not submit: its quota of the phase "closed" is 0.'


@one_kind
def test_yesterday_does_not_count(engine: Engine, settings: Settings) -> None:
    limit(engine, {PER_DAY: 1}, time_zone="Pacific/Kiritimati")
    submit(engine, settings, attempt(1))
    assert "(Pacific/Kiritimati); the next is possible from 2" in refused(engine, settings, 2)
    begin = standings(engine)[PER_DAY].day.begin
    with writing(engine) as connection:
        connection.execute(update(UsageLogEntry).values(created_at=begin - 0.001))
    submit(engine, settings, attempt(2))
    assert used(engine) == (2, 1, 2)


@one_kind
def test_quotas_that_cannot_be(engine: Engine, settings: Settings) -> None:
    for others, error, message in [
        ({"campaign": None, "team": "harbour"}, BadQuota, "give the campaign, too"),
        ({"campaign": None, "phase": "final"}, BadQuota, "give the campaign, too"),
        ({"team": "t" * 101}, BadQuota, "cannot be the name of a team"),
        ({"time_zone": "Europe/Praha"}, BadSchedule, "Did you mean Europe/Prague"),
        ({"campaign": "trail"}, NotFound, "There are: trial."),
    ]:
        with pytest.raises(error, match=message):
            limit(engine, {PER_DAY: 1}, **others)
    with pytest.raises(BadQuota, match="A quota needs a limit"):
        limit(engine, {})
    with pytest.raises(BadQuota, match="Give 0 or more"):
        limit(engine, {PER_DAY: 2**31})
    with reading(engine) as connection, pytest.raises(NotFound, match='No team "nobody"'):
        read_team_quotas(connection, "nobody")


@one_kind
def test_what_cannot_be_submitted(engine: Engine, settings: Settings) -> None:
    with pytest.raises(BadIngest, match="has 5 lines, but the test set trial has 6 segments"):
        submit(engine, settings, attempt(1, segments=5))
    with pytest.raises(BadIngest, match="cannot be the name of a team: it is empty"):
        submit(engine, settings, attempt(1, team=""))
    with pytest.raises(NotFound, match=r"has no test set 'trail'. There are: trial@1"):
        submit(engine, settings, attempt(1, test_set="trail"))
    queue_job(engine, settings, segments=7, systems=1)
    with pytest.raises(NotFound, match=r"several test sets: trial@1, trial@2. Choose one with --test-set"):
        submit(engine, settings, attempt(1))
    assert submit(engine, settings, attempt(1, segments=7, test_set="trial@2")).measures.test_set.segments == 7


@one_kind
@pytest.mark.parametrize(("language", "taken"), [("cs", True), ("czech", True), ("", True), ("de", False)])
def test_an_output_is_in_the_language_of_the_references(engine: Engine, language: str, taken: bool) -> None:
    settings, text = one_block_shards(str(engine.url)), some_text(6, 1)
    ingest_campaign(
        engine,
        settings,
        campaign=CAMPAIGN,
        test_set=NewTestSet("trial", {"A": text}, target_language="cs"),
        submissions=[NewSubmission("mast", text)],
        protocols=[NewProtocol(["A"], [parse_metric("bleu")], 0)],
    )
    mine = attempt(1)
    mine = replace(mine, text=replace(mine.text, language=language))
    if taken:
        assert submit(engine, settings, mine).queued
    else:
        with pytest.raises(BadIngest, match="is in 'de', but the references of trial are in 'cs'"):
            submit(engine, settings, mine)


@one_kind
def test_keys_and_descriptions_that_cannot_be(engine: Engine, settings: Settings) -> None:
    """As long as they may be they are taken, and there is room for them."""
    assert SubmissionRequest.__table__.c.request_key.type.length == MAX_KEY_LENGTH
    longest = {"request_key": "k" * MAX_KEY_LENGTH, "description": "d" * MAX_DESCRIPTION_LENGTH}
    assert submit(engine, settings, attempt(1, **longest)).stored
    for key in ("", "k" * (MAX_KEY_LENGTH + 1), "k\0"):
        with pytest.raises(BadIngest, match="cannot be the key of a request"):
            submit(engine, settings, attempt(2, request_key=key))
    for description in ("d" * (MAX_DESCRIPTION_LENGTH + 1), "d\0"):
        with pytest.raises(BadIngest, match="description is too long"):
            submit(engine, settings, attempt(2, description=description))


@one_kind
def test_who_is_before_it(engine: Engine, settings: Settings) -> None:
    first = submit(engine, settings, attempt(1))
    second = submit(engine, settings, attempt(2, team="other"))
    assert submissions_ahead(engine, first, QueueClass.INTERACTIVE) == 0
    assert submissions_ahead(engine, second, QueueClass.INTERACTIVE) == 1
    assert submissions_ahead(engine, second, QueueClass.CAMPAIGN) == 2
    # Another protocol of its campaign was added when the other was there already.
    late = replace(first, evaluations=(*first.evaluations, second.evaluations[-1] + 1))
    assert submissions_ahead(engine, late, QueueClass.INTERACTIVE) == 0
    with writing(engine) as connection:
        cancel_evaluations(connection, first.evaluations)
    assert submissions_ahead(engine, second, QueueClass.INTERACTIVE) == 0


@one_kind
def test_of_all_quotas_that_fit_a_team_the_most_specific_holds(engine: Engine, settings: Settings) -> None:
    """A team's before a campaign's before one for everything; of two for the same, that which names the phase."""
    scopes = [(team, campaign, phase) for team in ("", "harbour") for campaign in (False, True) for phase in ("", "x")]
    with writing(engine) as connection:
        trial = find_campaign(connection, CAMPAIGN)
        rows = [
            {"team": team, "campaign_id": trial if campaign else None, "phase": phase, "kind": PER_DAY, "amount": place}
            for place, (team, campaign, phase) in enumerate(scopes)
        ]
        strange = [{**rows[-1], "team": "other", "amount": 90}, {**rows[-1], "phase": "y", "amount": 91}]
        # Whatever the order in which they were stored.
        for row in (*strange, *reversed(rows)):
            connection.execute(insert(Quota).values(**row))
        for place in reversed(range(len(scopes))):
            assert quotas_of(connection, trial, "harbour", "x")[PER_DAY].amount == place, scopes[place]
            here = Quota.amount == place
            connection.execute(delete(Quota).where(here))
        assert quotas_of(connection, trial, "harbour", "x") == {}


@pytest.mark.parametrize(
    ("used", "amount", "full"), [(0, 0, True), (0, 1, False), (1, 1, True), (2, 1, True), (9, None, False)]
)
def test_a_quota_is_full_when_all_of_it_is_used(used: int, amount: int | None, full: bool) -> None:
    day = day_of(0.0, "UTC")
    for kind in QuotaKind:
        standing = QuotaUsage(kind, amount, used, tuple(range(used)), None, "", day)
        assert standing.full == full
        assert standing.free_at == (day.end if full and amount and kind == PER_DAY else None)


@one_kind
def test_a_day_begins_at_its_first_moment_and_ends_before_the_first_of_the_next(
    engine: Engine, settings: Settings
) -> None:
    submit(engine, settings, attempt(1))
    day = standings(engine)[PER_DAY].day
    for moment, counts in ((day.begin, 1), (day.begin - 0.001, 0), (day.end - 0.001, 1), (day.end, 0)):
        with writing(engine) as connection:
            connection.execute(update(UsageLogEntry).values(created_at=moment))
        assert used(engine) == (1, counts, 1)


def test_what_other_teams_and_other_campaigns_use_does_not_count(engine: Engine, settings: Settings) -> None:
    queue_job(engine, settings, segments=6, systems=1, campaign="elsewhere", seed=3)
    limit(engine, {PER_DAY: 1, IN_FLIGHT: 1, PER_PHASE: 1}, campaign=None)
    assert used(engine, "other") == (0, 0, 0)
    submit(engine, settings, attempt(1))
    assert (used(engine), used(engine, "other")) == ((1, 1, 1), (0, 0, 0))
    submit(engine, settings, attempt(2, team="other"))
    assert (used(engine), used(engine, "other")) == ((1, 1, 1), (1, 1, 1))
    submit(engine, settings, replace(attempt(4), campaign="elsewhere"))
    assert used(engine) == (1, 1, 1)
    assert refused(engine, settings, 5)
    with reading(engine) as connection:
        assert {each.campaign for each in read_team_quotas(connection, "harbour")} == {CAMPAIGN, "elsewhere"}
        assert [each.campaign for each in read_team_quotas(connection, "other")] == [CAMPAIGN]


@one_kind
def test_what_is_half_lost_is_queued_again_also_where_its_other_half_fills_the_quota(
    engine: Engine, settings: Settings
) -> None:
    """One of its two evaluations has failed, the other one still waits: it takes the place that it has."""
    work_off(settings)
    with_chrf = [NewProtocol(["A"], [parse_metric("chrf")], 5)]
    reference = some_text(6, 1)
    new = [NewSubmission("system0", reference, "")]
    ingest_campaign(
        engine,
        settings,
        campaign=CAMPAIGN,
        test_set=NewTestSet("trial", {"A": reference}),
        submissions=new,
        protocols=with_chrf,
    )
    limit(engine, {IN_FLIGHT: 1, PER_DAY: 1})
    first = submit(engine, settings, attempt(1))
    assert len(first.evaluations) == 2
    with writing(engine) as connection:
        fail_evaluations(connection, first.evaluations[:1], "The text is odd.", fault=Fault.INPUT)
    assert used(engine) == (1, 1, 1)
    again = submit(engine, settings, attempt(1))
    assert (again.submission, again.queued) == (first.submission, True)
    assert used(engine) == (1, 1, 1)
    assert "in flight" in refused(engine, settings, 2)


def test_the_ledger_is_read_once_however_long_it_is(engine: Engine, settings: Settings) -> None:
    open_campaign(engine, settings)
    limit(engine, {QuotaKind.PER_DAY: 5})
    first = submit(engine, settings, attempt(1))
    for seed, used_then in ((2, 2), (3, 3), (2, 3)):
        with caught() as statements:
            handed_in = submit(engine, settings, attempt(seed))
        assert {each.kind: each.used for each in handed_in.usage}[QuotaKind.PER_DAY] == used_then
        of_ledger = [text for text, _ in statements if "JOIN quota_account" in text]
        whole = [
            text for text in of_ledger if "ledger_entry.submission_id =" not in text.rpartition("JOIN quota_account")[2]
        ]
        assert len(whole) == 1
    # In the order in which they were made, the one that is there for long first.
    fail(engine, first, Fault.PLATFORM)
    again = submit(engine, settings, attempt(1))
    in_order = {each.kind: each.submissions for each in again.usage}[QuotaKind.PER_DAY]
    assert in_order[-1] == first.submission
    assert standings(engine)[QuotaKind.PER_DAY].submissions == in_order


@one_kind
def test_the_phase_of_one_campaign_is_set(engine: Engine, settings: Settings) -> None:
    queue_job(engine, settings, segments=6, systems=1, campaign="other", seed=3)
    with writing(engine) as connection:
        set_phase(connection, CAMPAIGN, "final")
        phases = dict(connection.execute(select(Campaign.name, Campaign.phase)).all())
    assert phases == {CAMPAIGN: "final", "other": ""}


@one_kind
def test_who_asks_for_a_team_that_is_not_there_hears_of_those_there_are(engine: Engine, settings: Settings) -> None:
    with reading(engine) as connection, pytest.raises(NotFound, match=r"quotas of its own. None has so far\.$"):
        read_team_quotas(connection, "nobody")
    submit(engine, settings, attempt(1, team="ants"))
    limit(engine, {PER_DAY: 1})
    limit(engine, {PER_DAY: 2}, team="bees")
    with reading(engine) as connection:
        with pytest.raises(NotFound, match=r"There are: ants, bees\.$"):
            read_team_quotas(connection, "nobody")
        for team, used_today, most in (("ants", 1, 1), ("bees", 0, 2)):
            (account,) = read_team_quotas(connection, team)
            (day,) = [each for each in account.usage if each.kind == PER_DAY]
            assert (account.campaign, day.used, day.amount) == (CAMPAIGN, used_today, most)


@one_kind
def test_a_campaign_with_times_is_in_the_phase_of_now(engine: Engine, settings: Settings) -> None:
    with writing(engine) as connection:
        row = {"campaign_id": find_campaign(connection, CAMPAIGN), "kind": PhaseKind.OPEN, "feedback": Feedback.FULL}
        connection.execute(insert(Phase).values(name="dev", starts_at=now() - 5, **row))
        with pytest.raises(BadQuota, match="has phases with times"):
            set_phase(connection, CAMPAIGN, "dev")
        # Whatever was said before there were any.
        connection.execute(update(Campaign).values(phase="final"))
    assert {each.phase for each in standings(engine).values()} == {"dev"}
