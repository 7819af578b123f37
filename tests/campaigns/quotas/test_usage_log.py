"""What the usage log counts: once, given back where the platform lost it, charged again with a retry."""

import pytest
from sqlalchemy import Connection, Engine, insert, select, update

from campaigns.quotas.quotas import read_team_quotas
from campaigns.quotas.usage_log import lock_quota_account, read_usage_entries, record_usage
from campaigns.submissions.submit import SubmitResult, submit
from models.corpus.campaign_protocols import find_campaign
from models.database.session import reading, writing
from models.queue.evaluation_end import fail_evaluations
from models.queue.kinds.shards import SHARD
from models.schema.base import now
from models.schema.campaigns import Campaign, UsageLogEntry
from models.schema.corpus import Protocol
from models.schema.queue import Evaluation, Shard
from models.schema.states import Fault, LeaseState, QuotaKind
from runtime.settings import Settings
from scheduler.admin import cancel, retry
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from steelyard.tables.formatting import date_time
from tests.campaigns.quotas.quotas import (
    CAMPAIGN,
    IN_FLIGHT,
    PER_DAY,
    attempt,
    fail,
    limit,
    one_kind,
    open_campaign,
    refused,
    standings,
    used,
)
from tests.scheduler.jobs import some_text, work_off
from tests.statements import caught
from tests.tasks import claim_task, release_task


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
        f"Team harbour has used 2 of 2 submissions of {day.date.day} {day.date:%B %Y} (UTC); the next is possible "
        f"from {date_time(day.end)}."
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
def test_a_returned_quota_is_needed_to_submit_again(engine: Engine, settings: Settings) -> None:
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
    assert used(engine) == (2, 2, 2), "it counts for the day on which it was submitted again"


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


def test_the_usage_log_is_read_once_however_long_it_is(engine: Engine, settings: Settings) -> None:
    open_campaign(engine, settings)
    limit(engine, {QuotaKind.PER_DAY: 5})
    first = submit(engine, settings, attempt(1))
    for seed, used_then in ((2, 2), (3, 3), (2, 3)):
        with caught() as statements:
            submitted = submit(engine, settings, attempt(seed))
        assert {each.kind: each.used for each in submitted.usage}[QuotaKind.PER_DAY] == used_then
        of_log = [text for text, _ in statements if "JOIN quota_account" in text]
        whole = [
            text for text in of_log if "usage_log_entry.submission_id =" not in text.rpartition("JOIN quota_account")[2]
        ]
        assert len(whole) == 1
    # In the order in which they were made, the one that is there for long first.
    fail(engine, first, Fault.PLATFORM)
    again = submit(engine, settings, attempt(1))
    in_order = {each.kind: each.submissions for each in again.usage}[QuotaKind.PER_DAY]
    assert in_order[-1] == first.submission
    assert standings(engine)[QuotaKind.PER_DAY].submissions == in_order
