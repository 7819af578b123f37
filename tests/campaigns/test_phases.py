"""Phases: planned, changed, extended, closed, published."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, insert, select, update

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change, version_of
from campaigns.errors import BadRequest, CampaignsError, Conflict, NotFound
from campaigns.permissions import CampaignAccess, read_access
from campaigns.phases import (
    MAX_GRACE_SECONDS,
    MAX_STEP,
    PhaseRules,
    add_phase,
    change_phase,
    close_now,
    extend_phase,
    find_phase,
    remove_phase,
    rules_of,
)
from campaigns.publication import publish_now
from campaigns.quotas.rules import list_quotas
from campaigns.test_sets.stored import find_campaign_test_set, set_test_set
from models.corpus.campaign_protocols import find_campaign
from models.database.session import make_engine, writing
from models.schema.accounts import AuditEntry
from models.schema.campaigns import Declaration, Quota
from models.schema.corpus import Submission, System
from models.schema.roles import Feedback, LateRule, PhaseKind
from models.schema.states import QuotaKind
from tests.service.campaigns import found, submit_output, with_test_set

HOUR = 3600.0


@pytest.fixture
def engine(service_url: str) -> Engine:
    engine = make_engine(service_url)
    found(engine, "wmt", time_zone="Europe/Prague")
    return engine


@contextmanager
def changing(engine: Engine) -> Iterator[tuple[Connection, CampaignAccess]]:
    with writing(engine) as connection:
        yield connection, lock_for_change(connection, COMMAND_LINE, "wmt")


def plan(engine: Engine, name: str, kind: PhaseKind, begins: float, ends: float | None = None, **values: Any) -> None:
    with changing(engine) as (connection, access):
        ends_at = None if ends is None else access.at + ends
        add_phase(connection, access, PhaseRules(name, kind, access.at + begins, ends_at, **values))


def look(engine: Engine) -> CampaignAccess:
    with writing(engine) as connection:
        return read_access(connection, COMMAND_LINE, "wmt")


def test_phases_do_not_overlap_the_grace_included(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, 0, HOUR, late=LateRule.FLAG, grace_seconds=HOUR)
    for begins, ends in ((-HOUR, HOUR / 2), (HOUR / 2, None), (1.5 * HOUR, 3 * HOUR), (-2 * HOUR, 5 * HOUR)):
        with pytest.raises(Conflict, match="do not overlap"):
            plan(engine, "test", PhaseKind.BLIND, begins, ends)
    plan(engine, "test", PhaseKind.BLIND, 3 * HOUR, 4 * HOUR)
    plan(engine, "out", PhaseKind.PUBLISHED, 4.5 * HOUR)
    lasts = r'"dev" lasts with its grace until [^(]* \(Europe/Prague\), but "test" begins on [^(]* \(Europe/Prague\)'
    with pytest.raises(Conflict, match=lasts), changing(engine) as (connection, access):
        change_phase(connection, access, access.phases[0], replace(rules_of(access.phases[0]), grace_seconds=3 * HOUR))
    assert [each.name for each in look(engine).phases] == ["dev", "test", "out"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": "a/b"}, "cannot be the name"),
        ({"ends_at": 0.0}, "end before it begins"),
        ({"grace_seconds": -1.0, "late": LateRule.FLAG}, "grace period can be"),
        ({"grace_seconds": 60.0}, "set no grace period"),
        ({"feedback_step": 0.0}, "step"),
        ({"feedback_step": float("nan")}, "must be numbers"),
        ({"starts_at": float("inf")}, "must be numbers"),
    ],
)
def test_what_no_phase_can_be_is_refused(engine: Engine, values: dict[str, Any], message: str) -> None:
    with changing(engine) as (connection, access):
        rules = PhaseRules("dev", PhaseKind.OPEN, access.at)
        with pytest.raises(BadRequest, match=message):
            add_phase(connection, access, replace(rules, **values))


def test_names_and_beginnings_are_not_given_twice(engine: Engine) -> None:
    plan(engine, "Dev", PhaseKind.OPEN, 0, HOUR)
    with changing(engine) as (connection, access):
        first = access.phases[0]
        with pytest.raises(Conflict, match="with the name"):
            add_phase(connection, access, PhaseRules("dev", PhaseKind.OPEN, first.starts_at + 2 * HOUR))
        with pytest.raises(Conflict, match="exactly that time"):
            add_phase(connection, access, PhaseRules("other", PhaseKind.OPEN, first.starts_at))


def test_a_phase_that_has_begun_keeps_its_name(engine: Engine) -> None:
    plan(engine, "trial", PhaseKind.OPEN, -3 * HOUR, -2 * HOUR)
    plan(engine, "dev", PhaseKind.OPEN, -HOUR, HOUR)
    plan(engine, "test", PhaseKind.BLIND, 2 * HOUR, 3 * HOUR)
    with changing(engine) as (connection, access):
        *begun, test = access.phases
        first_moments = [(replace(access, at=test.starts_at), test)]
        for then, each in [*((access, each) for each in begun), *first_moments]:
            with pytest.raises(BadRequest, match="has begun"):
                change_phase(connection, then, each, replace(rules_of(each), name="development"))
        change_phase(connection, access, test, replace(rules_of(test), name="final", feedback=Feedback.NONE))
    found = [(each.name, each.feedback) for each in look(engine).phases]
    assert found == [("trial", "full"), ("dev", "full"), ("final", "none")]


def test_a_deadline_is_extended_also_when_it_is_over_and_never_shortened_so(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, -2 * HOUR, -HOUR)
    plan(engine, "out", PhaseKind.PUBLISHED, 5 * HOUR)
    assert not look(engine).phases[0].takes(look(engine).at)
    with changing(engine) as (connection, access):
        dev = find_phase(access, "dev")
        assert dev.ends_at is not None
        for no_later in (dev.ends_at - 1, dev.ends_at):
            with pytest.raises(BadRequest, match=r" \(Europe/Prague\) already.*give a later time"):
                extend_phase(connection, access, dev, no_later)
        with pytest.raises(Conflict, match="do not overlap"):
            extend_phase(connection, access, dev, dev.ends_at + 10 * HOUR)
        with pytest.raises(BadRequest, match="no deadline"):
            extend_phase(connection, access, find_phase(access, "out"), access.at + 10 * HOUR)
        extend_phase(connection, access, dev, dev.ends_at + 3 * HOUR)
    access = look(engine)
    assert access.phases[0].takes(access.at)
    with writing(engine) as connection:
        entry = connection.execute(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert entry is not None
    assert (entry.action, entry.actor, entry.subject) == ("phase.change", "command line", "phase dev of campaign wmt")
    assert entry.details == {"ends_at": [dev.ends_at, dev.ends_at + 3 * HOUR]}


def test_what_belongs_to_a_phase_keeps_it(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, HOUR, 2 * HOUR)
    test_set = with_test_set(engine, "wmt", phase="dev")
    with changing(engine) as (connection, access), pytest.raises(Conflict, match="A test set belongs"):
        remove_phase(connection, access, access.phases[0])
    with changing(engine) as (connection, access):
        set_test_set(connection, access, find_campaign_test_set(connection, access, test_set), phase="")
    with changing(engine) as (connection, access):
        remove_phase(connection, access, access.phases[0])
    assert not look(engine).phases
    with pytest.raises(NotFound, match="has none yet"):
        find_phase(look(engine), "dev")


def test_closing_ends_the_phase_of_now_with_its_grace(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, -HOUR, HOUR, late=LateRule.FLAG, grace_seconds=HOUR)
    with changing(engine) as (connection, access):
        close_now(connection, access)
    access = look(engine)
    assert access.phase is not None
    assert (access.phase.name, access.phase.takes(access.at), access.sees_board) == ("dev", False, True)
    with changing(engine) as (connection, access), pytest.raises(BadRequest, match="No current phase"):
        close_now(connection, access)


def test_a_phase_that_is_closed_the_moment_it_begins_is_over_at_once(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, -HOUR, HOUR)
    with changing(engine) as (connection, access):
        begun = replace(access, at=access.phases[0].starts_at)
        close_now(connection, begun)
    (dev,) = look(engine).phases
    assert (dev.ends_at, dev.grace_seconds) == (math.nextafter(dev.starts_at, math.inf), 0.0)


def test_closing_in_the_grace_keeps_the_deadline(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, -2 * HOUR, -HOUR, late=LateRule.FLAG, grace_seconds=2 * HOUR)
    before = look(engine).phases[0]
    with changing(engine) as (connection, access):
        close_now(connection, access)
    after = look(engine).phases[0]
    assert after.ends_at == before.ends_at
    assert after.grace_seconds == pytest.approx(HOUR, abs=60)


def test_who_looked_at_other_rules_changes_nothing(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, HOUR, 2 * HOUR)
    campaign_id = look(engine).campaign_id
    with writing(engine) as connection:
        version = version_of(connection, campaign_id)
    with writing(engine) as connection:
        lock_for_change(connection, COMMAND_LINE, "wmt", f'"{version}"')
    plan(engine, "test", PhaseKind.BLIND, 3 * HOUR, 4 * HOUR)
    with writing(engine) as connection, pytest.raises(CampaignsError, match="changed it in the meantime"):
        lock_for_change(connection, COMMAND_LINE, "wmt", f'"{version}"')


def late(engine: Engine, campaign: str = "wmt") -> dict[str, float]:
    """System -> how late its submission is."""
    with writing(engine) as connection:
        rows = connection.execute(
            select(System.name, Declaration.late_seconds)
            .join(Submission, Submission.id == Declaration.submission_id)
            .join(System, System.id == Submission.system_id)
            .where(Declaration.campaign_id == find_campaign(connection, campaign))
        )
        return {row.name: row.late_seconds for row in rows}


@pytest.mark.parametrize(
    ("moved", "expected"),
    [
        (0.5, {"early": 0.0, "late": 99.5, "later": 199.5}),
        (60.0, {"early": 0.0, "late": 40.0, "later": 140.0}),
        (100.0, {"early": 0.0, "late": 0.0, "later": 100.0}),
        (500.0, {"early": 0.0, "late": 0.0, "later": 0.0}),
        (-60.0, {"early": 0.0, "late": 100.0, "later": 200.0}),
        (None, {"early": 0.0, "late": 0.0, "later": 0.0}),
    ],
)
def test_what_came_late_is_late_by_the_deadline_of_now(
    engine: Engine, moved: float | None, expected: dict[str, float]
) -> None:
    found(engine, "other")
    plan(engine, "dev", PhaseKind.OPEN, -2 * HOUR, -HOUR)
    for campaign in ("wmt", "other"):
        with_test_set(engine, campaign)
        for number, system in enumerate(("early", "late", "later", "elsewhere")):
            submit_output(engine, campaign, "harbour", system, b"%d\npes\ndum\n" % number)
    with writing(engine) as connection:
        for number in range(8):
            phase = "test" if number % 4 == 3 else "dev"
            here = Declaration.submission_id == number + 1
            connection.execute(update(Declaration).where(here).values(late_seconds=100.0 * (number % 4), phase=phase))
    with changing(engine) as (connection, access):
        dev = access.phases[0]
        assert dev.ends_at is not None
        ends_at = None if moved is None else dev.ends_at + moved
        change_phase(connection, access, dev, replace(rules_of(dev), ends_at=ends_at))
    assert late(engine) == {**expected, "elsewhere": 300.0}
    assert late(engine, "other") == {"early": 0.0, "late": 100.0, "later": 200.0, "elsewhere": 300.0}


def test_quotas_go_by_the_name_of_a_phase(engine: Engine) -> None:
    found(engine, "other")
    plan(engine, "dev", PhaseKind.OPEN, HOUR, 2 * HOUR)
    with writing(engine) as connection:
        ours, theirs = (find_campaign(connection, name) for name in ("wmt", "other"))
        for campaign, phase in ((ours, "dev"), (ours, "test"), (theirs, "dev"), (theirs, "first")):
            row = {"campaign_id": campaign, "phase": phase, "kind": QuotaKind.PER_PHASE, "amount": 1}
            connection.execute(insert(Quota).values(**row))
    with changing(engine) as (connection, access):
        change_phase(connection, access, access.phases[0], replace(rules_of(access.phases[0]), name="first"))
        assert sorted((each.campaign, each.scope.phase) for each in list_quotas(connection)) == [
            *(("other", "dev"), ("other", "first"), ("wmt", "first"), ("wmt", "test"))
        ]
    with changing(engine) as (connection, access):
        remove_phase(connection, access, access.phases[0])
        assert sorted((each.campaign, each.scope.phase) for each in list_quotas(connection)) == [
            *(("other", "dev"), ("other", "first"), ("wmt", "test"))
        ]


def test_a_submission_keeps_its_phase(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, -2 * HOUR, -HOUR)
    plan(engine, "test", PhaseKind.OPEN, HOUR, 2 * HOUR)
    found(engine, "other")
    for campaign in ("wmt", "other"):
        with_test_set(engine, campaign)
        submit_output(engine, campaign, "harbour", "mast", b"kocka\npes\ndum\n")
    assert late(engine)["mast"] > 0
    with writing(engine) as connection:
        elsewhere = Declaration.campaign_id == find_campaign(connection, "other")
        connection.execute(update(Declaration).where(elsewhere).values(phase="test"))
    with changing(engine) as (connection, access), pytest.raises(Conflict, match="Teams have submitted"):
        remove_phase(connection, access, find_phase(access, "dev"))
    with changing(engine) as (connection, access):
        remove_phase(connection, access, find_phase(access, "test"))
    assert [each.name for each in look(engine).phases] == ["dev"]


@pytest.mark.parametrize(
    ("values", "fits"),
    [
        ({"ends_at": 1.0}, False),
        ({"ends_at": 1.0 + 1e-6}, True),
        ({"ends_at": float("inf")}, False),
        ({"late": LateRule.FLAG, "grace_seconds": 0.0}, True),
        ({"late": LateRule.FLAG, "grace_seconds": MAX_GRACE_SECONDS}, True),
        ({"late": LateRule.FLAG, "grace_seconds": MAX_GRACE_SECONDS + 1}, False),
        ({"feedback_step": MAX_STEP}, True),
        ({"feedback_step": MAX_STEP + 0.1}, False),
        ({"feedback_step": 1e-9}, True),
        ({"starts_at": 100.0}, True),
        # The one that is there begins at 200 and ends at 300.
        ({"ends_at": 200.0}, True),
        ({"ends_at": 200.5}, False),
        ({"starts_at": 200.0}, False),
        ({"starts_at": 250.0}, False),
        ({"starts_at": 300.0}, True),
        ({"starts_at": 299.5, "ends_at": 400.0}, False),
        ({"ends_at": 150.0, "late": LateRule.FLAG, "grace_seconds": 50.0}, True),
        ({"ends_at": 150.0, "late": LateRule.FLAG, "grace_seconds": 50.5}, False),
    ],
)
def test_the_limits_of_what_a_phase_can_be(engine: Engine, values: dict[str, Any], fits: bool) -> None:
    with changing(engine) as (connection, access):
        add_phase(connection, access, PhaseRules("there", PhaseKind.CLOSED, 200.0, 300.0))
    with changing(engine) as (connection, access):
        rules = replace(PhaseRules("new", PhaseKind.OPEN, 1.0, None), **values)
        if fits:
            assert add_phase(connection, access, rules) > 0
        else:
            with pytest.raises((BadRequest, Conflict)):
                add_phase(connection, access, rules)


def test_each_change_is_in_the_audit_log(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, -HOUR, HOUR)
    plan(engine, "test", PhaseKind.OPEN, 2 * HOUR, 3 * HOUR)
    with changing(engine) as (connection, access):
        change_phase(connection, access, find_phase(access, "dev"), rules_of(find_phase(access, "dev")))
        remove_phase(connection, access, find_phase(access, "test"))
        close_now(connection, access)
    with changing(engine) as (connection, access):
        publish_now(connection, access)
    with writing(engine) as connection:
        entries = connection.execute(select(AuditEntry).order_by(AuditEntry.id)).all()
    assert [(each.action, each.subject) for each in entries][-5:] == [
        ("phase.add", "phase dev of campaign wmt"),
        ("phase.add", "phase test of campaign wmt"),
        ("phase.remove", "phase test of campaign wmt"),
        ("phase.close", "phase dev of campaign wmt"),
        ("campaign.publish", "phase Published of campaign wmt"),
    ]
    assert not [each for each in entries if "name" in each.details], "the subject says it"
