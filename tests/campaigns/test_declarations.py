"""What teams say about their submissions, and until when."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select, update

from campaigns.accounts.principal import COMMAND_LINE, Principal, principal_of_token
from campaigns.changes import lock_for_change
from campaigns.declarations import (
    DeclarationUpdate,
    DeclaredSubmission,
    declare_submission,
    read_declared,
    reinstate,
    why_locked,
    withdraw,
)
from campaigns.errors import CampaignsError, Conflict, Forbidden, NotFound, NotSignedIn
from campaigns.measures import MeasureRequest, add_measures
from campaigns.permissions import read_access
from campaigns.phases import extend_phase
from models.database.session import reading, writing
from models.schema.accounts import AuditEntry
from models.schema.campaigns import CampaignTestSet, Declaration
from models.schema.queue import Evaluation
from models.schema.roles import DeclaredKind, LateRule, PhaseKind, Scope
from models.schema.states import QueueClass
from scheduler.ingest.campaigns import NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from tests.service.campaigns import REFERENCE, SOURCE, given, submit_output, with_test_set
from tests.service.service import DAY, Service

PRIMARY = DeclarationUpdate(kind=DeclaredKind.PRIMARY)
OUTPUTS = [b"kocka\npes\ndum\n", b"kocka\npes\nx\n", b"kocka\nx\nx\n"]


class Contest:
    """A campaign with a test set, and three submissions of the team harbour."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.mary, self.olga, self.eve = (service.account(name) for name in ("mary", "olga", "eve"))
        self.campaign = service.campaign(
            "wmt",
            organisers=(self.olga,),
            teams=(service.team("harbour", self.mary), service.team("guests", self.eve)),
        )
        with_test_set(service.engine, "wmt")
        self.first, self.second, self.third = (
            submit_output(service.engine, "wmt", "harbour", f"s{number}", lines).submission
            for number, lines in enumerate(OUTPUTS)
        )

    def principal(self, account: int, *scopes: Scope) -> Principal:
        client = self.service.program(account, *scopes)
        secret = client.headers["Authorization"].removeprefix("Bearer ")
        with reading(self.service.engine) as connection:
            return principal_of_token(connection, secret)

    def say(self, account: int, submission: int, saying: DeclarationUpdate) -> DeclaredSubmission:
        principal = self.principal(account)
        with writing(self.service.engine) as connection:
            return declare_submission(connection, principal, submission, saying)

    def withdraw(self, account: int, submission: int) -> DeclaredSubmission:
        principal = self.principal(account)
        with writing(self.service.engine) as connection:
            return withdraw(connection, principal, submission)

    def reinstate(self, account: int, submission: int) -> DeclaredSubmission:
        principal = self.principal(account)
        with writing(self.service.engine) as connection:
            return reinstate(connection, self.service.settings, principal, submission)

    def kinds(self) -> list[str]:
        with reading(self.service.engine) as connection:
            found = [read_declared(connection, each) for each in (self.first, self.second, self.third)]
        return [each.kind if each else "gone" for each in found]

    def log(self) -> list[tuple[str, dict[str, object]]]:
        with reading(self.service.engine) as connection:
            asked = select(AuditEntry).where(AuditEntry.action.like("submission.%")).order_by(AuditEntry.id)
            entries = connection.execute(asked)
            return [(each.action, each.details) for each in entries if each.actor != "command line"]


@pytest.fixture
def contest(service: Service) -> Contest:
    return Contest(service)


def test_there_is_one_primary_for_each_team_and_test_set(contest: Contest) -> None:
    contest.say(contest.mary, contest.first, PRIMARY)
    contest.say(contest.mary, contest.second, PRIMARY)
    assert contest.kinds() == ["contrastive", "primary", ""]
    assert contest.log() == [
        ("submission.declare", {"kind": ["", "primary"]}),
        ("submission.declare", {"kind": ["", "primary"], "contrastive_now": [contest.first]}),
    ]
    # Said again, nothing changes.
    contest.say(contest.mary, contest.second, PRIMARY)
    assert len(contest.log()) == 2
    assert contest.kinds() == ["contrastive", "primary", ""]
    submit_output(contest.service.engine, "wmt", "harbour", "s1", OUTPUTS[1], declared=DeclaredKind.PRIMARY)
    assert contest.kinds() == ["contrastive", "primary", ""]


def test_what_is_not_said_stays(contest: Contest) -> None:
    contest.say(contest.mary, contest.first, DeclarationUpdate(constrained=True, description=" ours\r\nof old "))
    said = contest.say(contest.mary, contest.first, DeclarationUpdate(kind=DeclaredKind.CONTRASTIVE))
    assert (said.kind, said.constrained, said.description) == ("contrastive", True, "ours\nof old")
    assert contest.say(contest.mary, contest.first, DeclarationUpdate(unsaid=True)).constrained is None
    with pytest.raises(CampaignsError, match="5,000"):
        contest.say(contest.mary, contest.first, DeclarationUpdate(description="x" * 5001))
    with pytest.raises(CampaignsError, match="cannot be displayed"):
        contest.say(contest.mary, contest.first, DeclarationUpdate(description="ours\0"))


def test_a_withdrawn_primary_comes_back_as_contrastive_where_there_is_another(contest: Contest) -> None:
    contest.say(contest.mary, contest.first, PRIMARY)
    assert contest.withdraw(contest.mary, contest.first).withdrawn_at is not None
    assert contest.reinstate(contest.mary, contest.first).kind == DeclaredKind.PRIMARY
    contest.withdraw(contest.mary, contest.first)
    contest.say(contest.mary, contest.second, PRIMARY)
    back = contest.reinstate(contest.mary, contest.first)
    assert (back.kind, back.withdrawn_at) == ("contrastive", None)
    assert contest.kinds() == ["contrastive", "primary", ""]


@pytest.mark.parametrize(
    ("declared", "kinds"),
    [
        (DeclaredKind.UNDECLARED, ["contrastive", "primary", ""]),
        (DeclaredKind.CONTRASTIVE, ["contrastive", "primary", ""]),
        (DeclaredKind.PRIMARY, ["primary", "contrastive", ""]),
    ],
)
def test_a_withdrawn_primary_that_is_submitted_again_takes_its_place_back_only_where_it_is_said(
    contest: Contest, declared: DeclaredKind, kinds: list[str]
) -> None:
    contest.say(contest.mary, contest.first, PRIMARY)
    contest.withdraw(contest.mary, contest.first)
    contest.say(contest.mary, contest.second, PRIMARY)
    again = submit_output(contest.service.engine, "wmt", "harbour", "s0", OUTPUTS[0], declared=declared)
    assert again.submission == contest.first
    assert contest.kinds() == kinds
    with reading(contest.service.engine) as connection:
        assert set(connection.scalars(select(Declaration.withdrawn_at))) == {None}


def test_a_withdrawn_primary_that_is_submitted_again_is_primary_where_there_is_no_other(contest: Contest) -> None:
    contest.say(contest.mary, contest.first, PRIMARY)
    contest.withdraw(contest.mary, contest.first)
    submit_output(contest.service.engine, "wmt", "harbour", "s0", OUTPUTS[0])
    assert contest.kinds() == ["primary", "", ""]


def test_only_its_team_and_organisers_change_a_submission(contest: Contest) -> None:
    for act in (contest.withdraw, contest.reinstate):
        with pytest.raises(Forbidden, match="members of its team"):
            act(contest.eve, contest.first)
    with writing(contest.service.engine) as connection, pytest.raises(Forbidden):
        declare_submission(connection, Principal(), contest.first, PRIMARY)
    reader = contest.principal(contest.mary, Scope.READ)
    with writing(contest.service.engine) as connection, pytest.raises(Forbidden, match="cannot be used to submit"):
        declare_submission(connection, reader, contest.first, PRIMARY)
    assert contest.withdraw(contest.olga, contest.first).withdrawn_at is not None
    assert contest.log()[-1] == ("submission.withdraw", {"override": True})


def test_a_number_says_nothing_to_those_who_may_not_know(contest: Contest) -> None:
    contest.service.phase(contest.campaign, "test", PhaseKind.BLIND, ends=DAY)
    messages = []
    for number in (contest.first, 4711):
        with pytest.raises(NotFound) as error:
            contest.withdraw(contest.eve, number)
        messages.append(str(error.value).replace(str(number), "N"))
    assert messages[0] == messages[1]


def test_after_the_deadline_what_was_declared_stands_but_for_organisers(contest: Contest) -> None:
    contest.service.phase(
        contest.campaign, "test", PhaseKind.OPEN, begins=-DAY, ends=-60, late=LateRule.FLAG, grace_seconds=DAY
    )
    with pytest.raises(Conflict, match="deadline of the phase"):
        contest.say(contest.mary, contest.first, PRIMARY)
    with pytest.raises(Conflict, match="deadline of the phase"):
        contest.withdraw(contest.mary, contest.first)
    assert contest.say(contest.olga, contest.first, PRIMARY).kind == DeclaredKind.PRIMARY


@pytest.mark.parametrize("kind", [PhaseKind.CLOSED, PhaseKind.PUBLISHED])
def test_nothing_is_declared_when_nothing_is_taken(contest: Contest, kind: PhaseKind) -> None:
    contest.service.phase(contest.campaign, "end", kind)
    with pytest.raises(Conflict, match="only be changed or withdrawn"):
        contest.say(contest.mary, contest.first, PRIMARY)


def test_nothing_is_declared_before_the_first_phase(contest: Contest) -> None:
    contest.service.phase(contest.campaign, "dev", PhaseKind.OPEN, begins=DAY)
    with pytest.raises(Conflict, match="only be changed or withdrawn"):
        contest.withdraw(contest.mary, contest.first)


def test_a_frozen_campaign_stays_as_it_is(contest: Contest) -> None:
    contest.service.campaign("wmt", frozen_at=1.0)
    with pytest.raises(Conflict, match="frozen"):
        contest.withdraw(contest.mary, contest.first)
    with writing(contest.service.engine) as connection:
        withdraw(connection, COMMAND_LINE, contest.first)


def test_the_test_set_of_another_phase_is_settled(contest: Contest) -> None:
    contest.service.phase(contest.campaign, "test", PhaseKind.BLIND, ends=DAY)
    dev = contest.service.phase(contest.campaign, "dev", PhaseKind.OPEN, begins=-2 * DAY, ends=-1.5 * DAY)
    with writing(contest.service.engine) as connection:
        connection.execute(update(CampaignTestSet).values(phase_id=dev))
    with pytest.raises(Conflict, match="not accepted in the phase"):
        contest.say(contest.mary, contest.first, PRIMARY)


def test_nobody_withdraws_without_signing_in(contest: Contest) -> None:
    contest.service.campaign("wmt", visibility="public")
    with writing(contest.service.engine) as connection, pytest.raises((NotSignedIn, Forbidden)):
        withdraw(connection, Principal(), contest.first)
    with reading(contest.service.engine) as connection:
        assert list(connection.scalars(select(Declaration.withdrawn_at))) == [None] * 3


def test_what_came_late_is_judged_by_an_extended_deadline(contest: Contest) -> None:
    values = {"begins": -DAY, "ends": -3600.0, "late": LateRule.FLAG, "grace_seconds": 7200.0}
    contest.service.phase(contest.campaign, "test", PhaseKind.OPEN, **values)
    late = {contest.first: 100.0, contest.second: 3000.0, contest.third: 0.0}
    with writing(contest.service.engine) as connection:
        for submission, seconds in late.items():
            where = Declaration.submission_id == submission
            connection.execute(update(Declaration).where(where).values(phase="test", late_seconds=seconds))
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        (phase,) = access.phases
        assert phase.ends_at is not None
        extend_phase(connection, access, phase, phase.ends_at + 1000)
    with reading(contest.service.engine) as connection:
        left = connection.execute(select(Declaration.late_seconds).order_by(Declaration.submission_id))
        assert [row.late_seconds for row in left] == [0.0, pytest.approx(2000, abs=1e-3), 0.0]


def test_a_primary_is_replaced_by_another_primary_alone(contest: Contest) -> None:
    contest.say(contest.mary, contest.first, PRIMARY)
    contest.say(contest.mary, contest.second, DeclarationUpdate(description="ours", constrained=False))
    contest.say(contest.mary, contest.third, DeclarationUpdate(kind=DeclaredKind.CONTRASTIVE))
    assert contest.kinds() == ["primary", "", "contrastive"]
    contest.withdraw(contest.mary, contest.second)
    contest.say(contest.mary, contest.second, PRIMARY)
    assert contest.kinds() == ["primary", "primary", "contrastive"], "the one that is withdrawn takes no place"
    assert "contrastive_now" not in contest.log()[-1][1]


def test_primaries_of_other_teams_and_test_sets_stay(contest: Contest) -> None:
    engine = contest.service.engine
    theirs = submit_output(engine, "wmt", "guests", "s0", OUTPUTS[0]).submission
    talks = given(b"hrad\nzub\nles\n", b"the castle\nthe tooth\nthe wood\n")
    with_test_set(engine, "wmt", talks, name="talks")
    other = submit_output(engine, "wmt", "harbour", "s0", OUTPUTS[0], test_set="talks").submission
    contest.say(contest.eve, theirs, PRIMARY)
    contest.say(contest.mary, other, PRIMARY)
    contest.say(contest.mary, contest.first, PRIMARY)
    with reading(engine) as connection:
        kinds = [read_declared(connection, each) for each in (theirs, other, contest.first)]
    assert [each.kind for each in kinds if each] == [DeclaredKind.PRIMARY] * 3
    # It is no other primary that stands meanwhile.
    contest.withdraw(contest.mary, other)
    assert contest.reinstate(contest.mary, other).kind == DeclaredKind.PRIMARY
    contest.withdraw(contest.mary, other)
    assert submit_output(engine, "wmt", "harbour", "s0", OUTPUTS[0], test_set="talks").submission == other
    with reading(engine) as connection:
        again = read_declared(connection, other)
    assert again is not None
    assert (again.kind, again.withdrawn_at) == (DeclaredKind.PRIMARY, None)


def test_what_was_withdrawn_comes_back_as_what_it_was(contest: Contest) -> None:
    contest.say(contest.mary, contest.first, PRIMARY)
    withdrawn_at = contest.withdraw(contest.mary, contest.second).withdrawn_at
    assert contest.withdraw(contest.mary, contest.second).withdrawn_at == withdrawn_at
    back = contest.reinstate(contest.mary, contest.second)
    assert (back.kind, back.withdrawn_at) == (DeclaredKind.UNDECLARED, None)
    assert contest.reinstate(contest.mary, contest.second) == back
    contest.withdraw(contest.mary, contest.first)
    contest.say(contest.mary, contest.third, PRIMARY)
    contest.reinstate(contest.mary, contest.first)
    # What changes nothing is not in the log.
    assert contest.log()[1:] == [
        *(("submission.withdraw", {}), ("submission.reinstate", {}), ("submission.withdraw", {})),
        ("submission.declare", {"kind": ["", "primary"]}),
        ("submission.reinstate", {"kind": ["primary", "contrastive"]}),
    ]


def test_what_stands_again_is_measured_as_far_as_it_was_not(contest: Contest) -> None:
    engine = contest.service.engine
    contest.withdraw(contest.mary, contest.first)
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        (test_set,) = access.test_sets
        add_measures(connection, contest.service.settings, access, test_set, MeasureRequest(("ter",), replicates=0))
    of_first = select(Evaluation).where(Evaluation.submission_id == contest.first).order_by(Evaluation.id)
    with reading(engine) as connection:
        before = connection.execute(of_first).all()
    contest.reinstate(contest.mary, contest.first)
    with reading(engine) as connection:
        after = connection.execute(of_first).all()
        second = connection.execute(
            select(Evaluation.protocol_id).where(Evaluation.submission_id == contest.second).order_by(Evaluation.id)
        )
        assert [each.protocol_id for each in after] == list(second.scalars())
    assert (after[:1], len(after)) == (before, 2)
    assert (after[1].queue_class, after[1].team, after[1].state) == (QueueClass.CAMPAIGN, "harbour", "queued")


def test_a_submission_that_organisers_stored_is_declared_like_others(contest: Contest) -> None:
    """Nothing was ever said of it."""
    job = ingest_campaign(
        contest.service.engine,
        contest.service.settings,
        campaign="wmt",
        test_set=NewTestSet(
            "news", {"A": REFERENCE.rstrip()}, SOURCE.rstrip(), source_language="en", target_language="cs"
        ),
        submissions=[NewSubmission("old", b"a\nb\nc", "harbour", run="2"), NewSubmission("new", b"a\nb\nd", "harbour")],
        protocols=[],
    )
    old, new = job.submissions
    with reading(contest.service.engine) as connection:
        unsaid = DeclaredSubmission(
            old, contest.campaign, job.test_set_id, "harbour", "old", DeclaredKind(""), None, "", "", 0.0, None
        )
        assert read_declared(connection, old) == unsaid
        assert read_declared(connection, 4711) is None
    said = contest.say(
        contest.mary, old, DeclarationUpdate(DeclaredKind.CONTRASTIVE, constrained=False, description="first")
    )
    assert said == replace(unsaid, kind=DeclaredKind.CONTRASTIVE, constrained=False, description="first")
    assert contest.withdraw(contest.mary, new).withdrawn_at is not None
    assert contest.log() == [
        (
            "submission.declare",
            {"kind": ["", "contrastive"], "constrained": [None, False], "description": ["", "first"]},
        ),
        ("submission.withdraw", {}),
    ]


def test_an_organiser_in_the_team_is_a_member_until_the_deadline(contest: Contest) -> None:
    contest.service.campaign("wmt", organisers=(contest.mary,))
    reader, submitter = (contest.principal(contest.mary, *scopes) for scopes in ((Scope.READ,), (Scope.SUBMIT,)))
    contest.say(contest.mary, contest.first, PRIMARY)
    with writing(contest.service.engine) as connection:
        withdraw(connection, submitter, contest.first)
    assert [details.get("override") for _, details in contest.log()] == [None, None]
    contest.service.campaign("wmt", frozen_at=1.0)
    for principal in (reader, submitter):
        with writing(contest.service.engine) as connection, pytest.raises(Forbidden, match="to organise"):
            reinstate(connection, contest.service.settings, principal, contest.first)
    contest.reinstate(contest.mary, contest.first)
    assert contest.log()[-1] == ("submission.reinstate", {"override": True})
    with reading(contest.service.engine) as connection:
        subjects = connection.scalars(select(AuditEntry.subject).where(AuditEntry.actor != "command line"))
        assert set(subjects) == {f"submission {contest.first} of team harbour in campaign wmt"}


def test_what_is_on_a_hidden_test_set_is_not_there_for_its_own_team(contest: Contest) -> None:
    soon = contest.service.phase(contest.campaign, "soon", PhaseKind.OPEN, begins=DAY)
    contest.service.phase(contest.campaign, "now", PhaseKind.OPEN)
    with writing(contest.service.engine) as connection:
        connection.execute(update(CampaignTestSet).values(phase_id=soon))
    with pytest.raises(NotFound):
        contest.withdraw(contest.mary, contest.first)
    assert contest.withdraw(contest.olga, contest.first).withdrawn_at is not None


@pytest.mark.parametrize(("until_deadline", "settled"), [(0.0, True), (0.001, False)])
def test_declarations_end_at_the_deadline(contest: Contest, until_deadline: float, settled: bool) -> None:
    late = {"late": LateRule.FLAG, "grace_seconds": DAY}
    contest.service.phase(contest.campaign, "test", PhaseKind.OPEN, ends=DAY, **late)
    with reading(contest.service.engine) as connection:
        access = read_access(connection, COMMAND_LINE, "wmt")
        (phase,) = access.phases
        assert phase.ends_at is not None
        then = replace(access, at=phase.ends_at - until_deadline, time_zone="Asia/Kathmandu")
        why = why_locked(then, contest.first)
    assert bool(why) == ("(Asia/Kathmandu)" in why) == settled


@pytest.mark.parametrize("phase", ["", "dev", "test"])
def test_a_test_set_is_settled_but_in_its_own_phase(contest: Contest, phase: str) -> None:
    dev = contest.service.phase(contest.campaign, "dev", PhaseKind.OPEN, begins=-2 * DAY, ends=-DAY)
    test = contest.service.phase(contest.campaign, "test", PhaseKind.BLIND, ends=DAY)
    with writing(contest.service.engine) as connection:
        where = {"": None, "dev": dev, "test": test}[phase]
        connection.execute(update(CampaignTestSet).values(phase_id=where))
        access = read_access(connection, COMMAND_LINE, "wmt")
        assert bool(why_locked(access, *access.test_sets)) == (phase == "dev")
