"""When a campaign takes submissions in, from whom, and what is written down of what the team says."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Engine, func, insert, select, update

from campaigns.submissions.admission import check_open
from campaigns.submissions.errors import NotTakingPart, PhaseClosed, ReusedKey
from campaigns.submissions.submit import SubmitResult, submit
from models.corpus.campaign_protocols import find_campaign
from models.corpus.phases import PhaseInfo
from models.database.session import make_engine, reading, writing
from models.schema.accounts import Account, AuditEntry, Team
from models.schema.base import database_time, now
from models.schema.campaigns import (
    Campaign,
    CampaignTestSet,
    Declaration,
    Participation,
    Phase,
    SubmissionFindings,
    UsageLogEntry,
    is_campaign_test_set,
)
from models.schema.corpus import Submission
from models.schema.roles import DeclaredKind, Feedback, LateRule, PhaseKind
from models.schema.states import QuotaKind
from runtime.settings import Settings
from scheduler.ingest.test_sets import link_test_set
from steelyard.tables.formatting import date_time
from tests.campaigns.quotas.quotas import CAMPAIGN, attempt, limit, open_campaign
from tests.scheduler.jobs import one_block_shards, queue_job

HOUR = 3600.0

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


def phase(engine: Engine, name: str, kind: PhaseKind, begins: float, ends: float | None = None, **others: Any) -> int:
    with writing(engine) as connection:
        row = {
            "campaign_id": find_campaign(connection, CAMPAIGN),
            "name": name,
            "kind": kind,
            "starts_at": now() + begins,
            "ends_at": None if ends is None else now() + ends,
            **others,
        }
        return connection.execute(insert(Phase).values(**row).returning(Phase.id)).scalar_one()


def rules(engine: Engine, **values: Any) -> None:
    with writing(engine) as connection:
        connection.execute(update(Campaign).where(Campaign.name == CAMPAIGN).values(**values))


def declared(engine: Engine, submitted: SubmitResult) -> Any:
    with reading(engine) as connection:
        of_it = Declaration.submission_id == submitted.submission
        return connection.execute(select(Declaration).where(of_it)).one()


def refusal(engine: Engine, settings: Settings, seed: int = 1, **others: Any) -> PhaseClosed:
    with pytest.raises(PhaseClosed) as error:
        submit(engine, settings, attempt(seed, **others))
    with reading(engine) as connection:
        # Only that of the organisers.
        assert connection.execute(select(func.count()).select_from(Submission)).scalar_one() == 1
    return error.value


@one_kind
def test_a_phase_takes_submissions_from_its_start_to_its_deadline(engine: Engine, settings: Settings) -> None:
    rules(engine, time_zone="Europe/Prague")
    phase(engine, "development", PhaseKind.OPEN, HOUR, 2 * HOUR)
    before = refusal(engine, settings)
    assert before.opens_at is not None
    begins = date_time(before.opens_at, "Europe/Prague")
    assert f'from {begins} on, when the phase "development" begins. It is ' in str(before)
    with writing(engine) as connection:
        connection.execute(update(Phase).values(starts_at=now() - HOUR))
    assert submit(engine, settings, attempt(1)).phase == "development"
    with writing(engine) as connection:
        connection.execute(update(Phase).values(ends_at=now() - 1))
    with pytest.raises(PhaseClosed) as error:
        submit(engine, settings, attempt(2))
    assert error.value.closed_at is not None
    assert 'no longer accepted: the phase "development" was closed at' in str(error.value)


@one_kind
def test_an_upload_that_arrived_before_the_deadline_is_accepted_though_it_waited(
    engine: Engine, settings: Settings
) -> None:
    phase(engine, "blind", PhaseKind.BLIND, -HOUR, -1.0)
    with reading(engine) as connection:
        clock = database_time(connection)
    assert submit(engine, settings, attempt(1, arrived_at=clock - 5)).late_seconds == 0
    # Nobody can wait for an hour inside the server.
    with pytest.raises(PhaseClosed):
        submit(engine, settings, attempt(2, arrived_at=clock - 0.5 * HOUR))


def test_late_ones_are_marked_within_the_grace_and_refused_after_it(engine: Engine, settings: Settings) -> None:
    phase(engine, "blind", PhaseKind.BLIND, -HOUR, -600.0, late=LateRule.FLAG, grace_seconds=1200.0)
    late = submit(engine, settings, attempt(1))
    assert 600 <= late.late_seconds < 660
    assert declared(engine, late).late_seconds == late.late_seconds
    with writing(engine) as connection:
        connection.execute(update(Phase).values(grace_seconds=300.0))
    with pytest.raises(PhaseClosed, match='"blind" was closed at'):
        submit(engine, settings, attempt(2))
    # The very same again is still found, and stays what it was.
    with pytest.raises(PhaseClosed):
        submit(engine, settings, attempt(1))


@one_kind
def test_after_the_deadline_what_was_said_stands_and_what_was_withdrawn_comes_late(
    engine: Engine, settings: Settings
) -> None:
    phase(engine, "blind", PhaseKind.BLIND, -HOUR, HOUR, late=LateRule.FLAG, grace_seconds=HOUR)
    kept, gone = submit(engine, settings, attempt(1)), submit(engine, settings, attempt(2))
    with writing(engine) as connection:
        connection.execute(
            update(Declaration).where(Declaration.submission_id == gone.submission).values(withdrawn_at=now())
        )
        connection.execute(update(Phase).values(ends_at=now() - 60))
    for seed in (1, 2):
        submit(engine, settings, attempt(seed, declared=DeclaredKind.PRIMARY))
    assert (declared(engine, kept).kind, declared(engine, kept).late_seconds) == ("", 0.0)
    again = declared(engine, gone)
    assert (again.kind, again.withdrawn_at) == ("primary", None)
    assert again.late_seconds >= 60


@one_kind
@pytest.mark.parametrize("kind", [PhaseKind.CLOSED, PhaseKind.PUBLISHED])
def test_nothing_is_accepted_when_the_campaign_is_over(engine: Engine, settings: Settings, kind: PhaseKind) -> None:
    phase(engine, "open", PhaseKind.OPEN, -HOUR)
    phase(engine, "over", kind, -1.0)
    assert 'the phase "open" was closed at' in str(refusal(engine, settings))


@one_kind
def test_a_frozen_campaign_takes_nothing(engine: Engine, settings: Settings) -> None:
    rules(engine, frozen_at=now())
    assert "was frozen on" in str(refusal(engine, settings))
    assert submit(engine, settings, attempt(1, enforce_rules=False)).stored


@one_kind
def test_a_test_set_may_be_bound_to_a_phase(engine: Engine, settings: Settings) -> None:
    first = phase(engine, "first", PhaseKind.OPEN, -2 * HOUR)
    second = phase(engine, "second", PhaseKind.BLIND, -HOUR)
    with writing(engine) as connection:
        connection.execute(update(CampaignTestSet).values(phase_id=first))
    message = str(refusal(engine, settings))
    assert message.startswith("Outputs for the test set ")
    assert 'the phase "first" was closed at' in message
    with writing(engine) as connection:
        connection.execute(update(CampaignTestSet).values(phase_id=second))
    assert submit(engine, settings, attempt(1)).phase == "second"


@one_kind
def test_only_teams_of_the_campaign_submit_where_it_has_teams(engine: Engine, settings: Settings) -> None:
    with writing(engine) as connection:
        for number, name in enumerate(("harbour", "guests"), start=1):
            connection.execute(insert(Team).values(name=name, folded_name=name))
            if name == "harbour":
                connection.execute(insert(Participation).values(campaign_id=1, team_id=number, number=7))
    assert submit(engine, settings, attempt(1)).stored
    with pytest.raises(NotTakingPart, match='"guests" does not participate'):
        submit(engine, settings, attempt(2, team="guests"))
    assert submit(engine, settings, attempt(2, team="guests", enforce_rules=False)).stored


@one_kind
def test_an_account_may_have_to_be_confirmed_first(engine: Engine, settings: Settings) -> None:
    rules(engine, verified_only=True)
    with writing(engine) as connection:
        connection.execute(insert(Account).values(email="m@example.org", name="m", role="participant"))
    with pytest.raises(NotTakingPart, match="with a confirmed e-mail address"):
        submit(engine, settings, attempt(1, account_id=1))
    with writing(engine) as connection:
        connection.execute(update(Account).values(verified_at=now()))
    assert submit(engine, settings, attempt(1, account_id=1)).stored


@one_kind
def test_organisers_may_override_the_phases_which_the_audit_log_says(engine: Engine, settings: Settings) -> None:
    phase(engine, "open", PhaseKind.OPEN, -HOUR, -60.0)
    late = submit(engine, settings, attempt(1, enforce_rules=False))
    assert late.late_seconds >= 60
    with reading(engine) as connection:
        entry = connection.execute(select(AuditEntry)).one()
    assert (entry.actor, entry.action, entry.subject) == ("command line", "submission.submit", "submission 2")
    assert entry.details == {"team": "harbour", "system": "mast", "override": True}


@one_kind
def test_submissions_of_organisers_count_for_the_current_phase_and_are_late_only_where_one_can_be(
    engine: Engine, settings: Settings
) -> None:
    rules(engine, phase="before there were times")
    seeds = iter(range(1, 9))

    def submit_output() -> tuple[str, float]:
        found = submit(engine, settings, attempt(next(seeds), enforce_rules=False))
        return found.phase, found.late_seconds

    assert submit_output() == ("before there were times", 0.0)
    phase(engine, "first", PhaseKind.OPEN, HOUR)
    assert submit_output() == ("", 0.0), "none has begun"
    for number, kind in enumerate((PhaseKind.OPEN, PhaseKind.BLIND, PhaseKind.CLOSED, PhaseKind.PUBLISHED)):
        phase(engine, kind, kind, -HOUR + number, -1000.0 + number)
        name, late = submit_output()
        assert name == kind
        assert late == (pytest.approx(1000.0, abs=100) if kind in (PhaseKind.OPEN, PhaseKind.BLIND) else 0.0)


@one_kind
def test_who_has_no_account_need_not_confirm_one(engine: Engine, settings: Settings) -> None:
    """On the command line, for instance."""
    rules(engine, verified_only=True)
    assert submit(engine, settings, attempt(1)).stored


def test_a_team_has_one_primary_submission_for_a_test_set(engine: Engine, settings: Settings) -> None:
    primary = DeclaredKind.PRIMARY
    first = submit(engine, settings, attempt(1, declared=primary, constrained=True, description="big"))
    second = submit(engine, settings, attempt(2, declared=primary))
    other = submit(engine, settings, attempt(3, team="guests", declared=primary))
    assert [declared(engine, each).kind for each in (first, second, other)] == ["contrastive", "primary", "primary"]
    # Submitted again it is what the team now says; what it says nothing of stays.
    again = submit(engine, settings, attempt(1, declared=primary))
    assert (again.submission, again.stored, again.queued, again.kind) == (first.submission, False, False, primary)
    assert [declared(engine, each).kind for each in (first, second)] == ["primary", "contrastive"]
    assert (declared(engine, first).constrained, declared(engine, first).description) == (True, "big")
    submit(engine, settings, attempt(1))
    assert declared(engine, first).kind == "primary"
    with writing(engine) as connection:
        actions = list(connection.scalars(select(AuditEntry.action).order_by(AuditEntry.id)))
        connection.execute(update(Declaration).values(withdrawn_at=now()))
    # The last one changed nothing.
    assert actions == [*["submission.submit"] * 3, "submission.declare"]
    submit(engine, settings, attempt(1))
    assert declared(engine, first).withdrawn_at is None


def test_findings_are_stored_with_the_submission(engine: Engine, settings: Settings) -> None:
    found = [{"code": "empty", "severity": "warning", "message": "2 empty lines"}]
    submit(engine, settings, attempt(1, findings=found))
    submit(engine, settings, attempt(1, findings=[]))
    with reading(engine) as connection:
        assert connection.execute(select(SubmissionFindings.findings)).scalars().all() == [[]]


def test_the_same_request_again_finds_its_submission_also_when_all_is_over(engine: Engine, settings: Settings) -> None:
    limit(engine, {QuotaKind.PER_PHASE: 1})
    open_phase = phase(engine, "open", PhaseKind.OPEN, -HOUR)
    first = submit(engine, settings, attempt(1, request_key="k"))
    with writing(engine) as connection:
        assert connection.scalars(select(UsageLogEntry.phase)).all() == ["open"]
        connection.execute(update(Phase).where(Phase.id == open_phase).values(ends_at=now() - 1))
    again = submit(engine, settings, attempt(1, request_key="k", declared=DeclaredKind.PRIMARY))
    assert (again.submission, again.stored, again.queued, again.phase) == (first.submission, False, False, "open")
    assert declared(engine, first).kind == ""
    with pytest.raises(ReusedKey):
        submit(engine, settings, attempt(2, request_key="k"))


DEV = PhaseInfo(1, "dev", PhaseKind.OPEN, 1000.0, 2000.0, LateRule.FLAG, 100.0, Feedback.FULL, 1.0)
TEST = PhaseInfo(2, "test", PhaseKind.BLIND, 3000.0, 4000.0, LateRule.REFUSE, 100.0, Feedback.NONE, 1.0)
PAUSE = PhaseInfo(3, "pause", PhaseKind.CLOSED, 4500.0, None, LateRule.REFUSE, 0.0, Feedback.NONE, 1.0)
LATE = PhaseInfo(4, "late", PhaseKind.OPEN, 6000.0, None, LateRule.REFUSE, 0.0, Feedback.NONE, 1.0)
OUT = PhaseInfo(5, "results", PhaseKind.PUBLISHED, 9000.0, None, LateRule.REFUSE, 0.0, Feedback.FULL, 1.0)
ALL = (DEV, TEST, PAUSE, LATE, OUT)


@pytest.mark.parametrize(
    ("at", "only", "taken", "opens_at", "closed_at"),
    [
        (999.0, None, None, 1000.0, None),
        (1000.0, None, DEV, None, None),
        (1999.0, None, DEV, None, None),
        (2000.0, None, DEV, None, None),
        (2099.9, None, DEV, None, None),
        (2100.0, None, None, 3000.0, 2100.0),
        (3000.0, None, TEST, None, None),
        (3999.9, None, TEST, None, None),
        (4000.0, None, None, 6000.0, 4000.0),
        (5000.0, None, None, 6000.0, 4000.0),
        (6000.0, None, LATE, None, None),
        (8999.0, None, LATE, None, None),
        (9000.0, None, None, None, 9000.0),
        # Bound to a phase, a test set has its times alone.
        (1500.0, 1, DEV, None, None),
        (3500.0, 1, None, None, 2100.0),
        (999.0, 2, None, 3000.0, None),
        (1500.0, 2, None, 3000.0, None),
        (3500.0, 2, TEST, None, None),
        (5000.0, 2, None, None, 4000.0),
        (5000.0, 4, None, 6000.0, None),
        (9500.0, 4, None, None, 9000.0),
        # A phase in which nothing is ever taken.
        (5000.0, 3, None, None, None),
        (5000.0, 77, None, None, None),
    ],
)
def test_when_something_is_taken_and_when_it_was_or_will_be(
    at: float, only: int | None, taken: PhaseInfo | None, opens_at: float | None, closed_at: float | None
) -> None:
    for phases in (ALL, ALL[::-1]):
        if taken is not None:
            assert check_open(phases, at, "UTC", only, "news") == taken
            continue
        with pytest.raises(PhaseClosed) as error:
            check_open(phases, at, "UTC", only, "news")
        assert (error.value.opens_at, error.value.closed_at) == (opens_at, closed_at)
        said = str(error.value)
        assert said.startswith("Submissions are " if only is None else "Outputs for the test set news are ")
        assert ("on, when the phase" in said) == (opens_at is not None)
        assert ("no longer accepted" in said) == (opens_at is None and closed_at is not None)


def test_without_an_end_a_phase_is_over_when_the_next_one_begins() -> None:
    first = replace(DEV, ends_at=None, late=LateRule.REFUSE)
    with pytest.raises(PhaseClosed) as error:
        check_open([first, replace(OUT, starts_at=1500.0)], 1600.0, "UTC")
    assert error.value.closed_at == 1500.0
    with pytest.raises(PhaseClosed) as error:
        # The end of its grace comes after the next one has begun.
        check_open([replace(DEV, grace_seconds=5000.0), replace(OUT, starts_at=2500.0)], 2600.0, "UTC")
    assert error.value.closed_at == 2500.0


@one_kind
@pytest.mark.parametrize(("seconds", "taken"), [(50.0, True), (70.0, False), (-2 * HOUR, False)])
def test_what_arrived_long_ago_or_will_arrive_is_judged_by_now(
    engine: Engine, settings: Settings, seconds: float, taken: bool
) -> None:
    """A minute is as long as a request may have waited inside; nobody says that his came earlier, or in the future."""
    # It is over since, or begins before the request says that it came.
    begins, ends = (-HOUR, -30.0) if seconds > 0 else (HOUR, 3 * HOUR)
    phase(engine, "dev", PhaseKind.OPEN, begins, ends)
    with reading(engine) as connection:
        at = database_time(connection)
    if taken:
        assert submit(engine, settings, attempt(1, arrived_at=at - seconds)).late_seconds == 0
    else:
        with pytest.raises(PhaseClosed):
            submit(engine, settings, attempt(1, arrived_at=at - seconds))


@one_kind
def test_a_phase_of_another_campaign_and_its_teams_say_nothing(engine: Engine, settings: Settings) -> None:
    queue_job(engine, settings, segments=6, systems=1, campaign="elsewhere", seed=3)
    with writing(engine) as connection:
        other = find_campaign(connection, "elsewhere")
        connection.execute(update(Campaign).where(Campaign.id == other).values(frozen_at=now(), verified_only=True))
        row = {"kind": PhaseKind.CLOSED, "starts_at": now() - HOUR, "name": "shut", "campaign_id": other}
        connection.execute(insert(Phase).values(**row))
        team = connection.execute(
            insert(Team).values(name="rival", folded_name="rival").returning(Team.id)
        ).scalar_one()
        connection.execute(insert(Participation).values(campaign_id=other, team_id=team, number=1))
        # The same test set in the other campaign is bound to the phase that is shut.
        trial = find_campaign(connection, CAMPAIGN)
        (test_set,) = connection.scalars(
            select(Submission.test_set_id).where(Submission.campaign_id == trial).distinct()
        )
        shut = connection.scalar(select(Phase.id))
        link_test_set(connection, other, test_set, "t")
        theirs = update(CampaignTestSet).where(is_campaign_test_set(other, test_set))
        connection.execute(theirs.values(phase_id=shut))
    assert submit(engine, settings, attempt(1)).stored
    phase(engine, "dev", PhaseKind.OPEN, -HOUR, HOUR)
    assert submit(engine, settings, attempt(2)).phase == "dev"
