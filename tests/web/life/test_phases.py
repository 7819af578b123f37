"""Phases: planned, changed, extended, closed, published."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, select

from models.audit import AuditEntry
from models.roles import Feedback, LateRule, PhaseKind
from models.session import make_engine, writing
from tests.web.life.campaigns import found, with_test_set
from web.access.principal import COMMAND_LINE
from web.errors import BadRequest, NotThere, Taken, WebError
from web.life.changing import to_change, version_of
from web.life.phases import (
    PhaseRules,
    add_phase,
    change_phase,
    close_now,
    extend_phase,
    find_phase,
    publish_now,
    remove_phase,
    rules_of,
)
from web.life.sight import Sight, read_sight
from web.life.test_sets import find_campaign_test_set, set_test_set

HOUR = 3600.0


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    engine = make_engine(sqlite_url)
    found(engine, "wmt", time_zone="Europe/Prague")
    return engine


@contextmanager
def changing(engine: Engine) -> Iterator[tuple[Connection, Sight]]:
    with writing(engine) as connection:
        yield connection, to_change(connection, COMMAND_LINE, "wmt")


def plan(engine: Engine, name: str, kind: PhaseKind, begins: float, ends: float | None = None, **values: Any) -> None:
    with changing(engine) as (connection, sight):
        ends_at = None if ends is None else sight.at + ends
        add_phase(connection, sight, PhaseRules(name, kind, sight.at + begins, ends_at, **values))


def look(engine: Engine) -> Sight:
    with writing(engine) as connection:
        return read_sight(connection, COMMAND_LINE, "wmt")


def test_phases_do_not_overlap_the_grace_included(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, 0, HOUR, late=LateRule.FLAG, grace_seconds=HOUR)
    for begins, ends in ((-HOUR, HOUR / 2), (HOUR / 2, None), (1.5 * HOUR, 3 * HOUR), (-2 * HOUR, 5 * HOUR)):
        with pytest.raises(Taken, match="do not overlap"):
            plan(engine, "test", PhaseKind.BLIND, begins, ends)
    plan(engine, "test", PhaseKind.BLIND, 3 * HOUR, 4 * HOUR)
    plan(engine, "out", PhaseKind.PUBLISHED, 4.5 * HOUR)
    with pytest.raises(Taken, match='"dev" lasts with its grace until'), changing(engine) as (connection, sight):
        change_phase(connection, sight, sight.phases[0], replace(rules_of(sight.phases[0]), grace_seconds=3 * HOUR))
    assert [each.name for each in look(engine).phases] == ["dev", "test", "out"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": "a/b"}, "cannot be the name"),
        ({"ends_at": 0.0}, "end before it begins"),
        ({"grace_seconds": -1.0, "late": LateRule.FLAG}, "grace can be"),
        ({"grace_seconds": 60.0}, "there is no grace"),
        ({"feedback_step": 0.0}, "step"),
        ({"feedback_step": float("nan")}, "must be numbers"),
        ({"starts_at": float("inf")}, "must be numbers"),
    ],
)
def test_what_no_phase_can_be_is_refused(engine: Engine, values: dict[str, Any], message: str) -> None:
    with changing(engine) as (connection, sight):
        rules = PhaseRules("dev", PhaseKind.OPEN, sight.at)
        with pytest.raises(BadRequest, match=message):
            add_phase(connection, sight, replace(rules, **values))


def test_names_and_beginnings_are_not_given_twice(engine: Engine) -> None:
    plan(engine, "Dev", PhaseKind.OPEN, 0, HOUR)
    with changing(engine) as (connection, sight):
        first = sight.phases[0]
        with pytest.raises(Taken, match="is called"):
            add_phase(connection, sight, PhaseRules("dev", PhaseKind.OPEN, first.starts_at + 2 * HOUR))
        with pytest.raises(Taken, match="that very moment"):
            add_phase(connection, sight, PhaseRules("other", PhaseKind.OPEN, first.starts_at))


def test_a_phase_that_has_begun_keeps_its_name(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, -HOUR, HOUR)
    plan(engine, "test", PhaseKind.BLIND, 2 * HOUR, 3 * HOUR)
    with changing(engine) as (connection, sight):
        dev, test = sight.phases
        with pytest.raises(BadRequest, match="has begun"):
            change_phase(connection, sight, dev, replace(rules_of(dev), name="development"))
        change_phase(connection, sight, test, replace(rules_of(test), name="final", feedback=Feedback.NONE))
    assert [(each.name, each.feedback) for each in look(engine).phases] == [("dev", "full"), ("final", "none")]


def test_a_deadline_is_extended_also_when_it_is_over_and_never_shortened_so(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, -2 * HOUR, -HOUR)
    plan(engine, "out", PhaseKind.PUBLISHED, 5 * HOUR)
    assert not look(engine).phases[0].takes(look(engine).at)
    with changing(engine) as (connection, sight):
        dev = find_phase(sight, "dev")
        assert dev.ends_at is not None
        with pytest.raises(BadRequest, match="give a later time"):
            extend_phase(connection, sight, dev, dev.ends_at - 1)
        with pytest.raises(Taken, match="do not overlap"):
            extend_phase(connection, sight, dev, dev.ends_at + 10 * HOUR)
        with pytest.raises(BadRequest, match="no deadline"):
            extend_phase(connection, sight, find_phase(sight, "out"), sight.at + 10 * HOUR)
        extend_phase(connection, sight, dev, dev.ends_at + 3 * HOUR)
    sight = look(engine)
    assert sight.phases[0].takes(sight.at)
    with writing(engine) as connection:
        entry = connection.execute(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert entry is not None
    assert (entry.action, entry.actor, entry.subject) == ("phase.change", "command line", "phase dev of campaign wmt")
    assert entry.details == {"ends_at": [dev.ends_at, dev.ends_at + 3 * HOUR]}


def test_what_belongs_to_a_phase_keeps_it(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, HOUR, 2 * HOUR)
    test_set = with_test_set(engine, "wmt", phase="dev")
    with changing(engine) as (connection, sight), pytest.raises(Taken, match="A test set belongs"):
        remove_phase(connection, sight, sight.phases[0])
    with changing(engine) as (connection, sight):
        set_test_set(connection, sight, find_campaign_test_set(connection, sight, test_set), phase="")
    with changing(engine) as (connection, sight):
        remove_phase(connection, sight, sight.phases[0])
    assert not look(engine).phases
    with pytest.raises(NotThere, match="has none yet"):
        find_phase(look(engine), "dev")


def test_closing_ends_the_phase_of_now_with_its_grace(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, -HOUR, HOUR, late=LateRule.FLAG, grace_seconds=HOUR)
    with changing(engine) as (connection, sight):
        close_now(connection, sight)
    sight = look(engine)
    assert sight.phase is not None
    assert (sight.phase.name, sight.phase.takes(sight.at), sight.sees_board) == ("dev", False, True)
    with changing(engine) as (connection, sight), pytest.raises(BadRequest, match="no phase now"):
        close_now(connection, sight)


def test_closing_in_the_grace_keeps_the_deadline(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, -2 * HOUR, -HOUR, late=LateRule.FLAG, grace_seconds=2 * HOUR)
    before = look(engine).phases[0]
    with changing(engine) as (connection, sight):
        close_now(connection, sight)
    after = look(engine).phases[0]
    assert after.ends_at == before.ends_at
    assert after.grace_seconds == pytest.approx(HOUR, abs=60)


@pytest.mark.parametrize("planned", [True, False])
def test_publishing_ends_what_runs_and_begins_what_was_planned(engine: Engine, planned: bool) -> None:
    plan(engine, "test", PhaseKind.BLIND, -HOUR, HOUR)
    if planned:
        plan(engine, "results", PhaseKind.PUBLISHED, 2 * HOUR)
    assert not look(engine).published
    with changing(engine) as (connection, sight):
        publish_now(connection, sight)
    sight = look(engine)
    assert sight.published
    assert [each.name for each in sight.phases] == ["test", "results" if planned else "Published"]
    assert sight.phases[0].ends_at == sight.phases[1].starts_at
    with changing(engine) as (connection, sight), pytest.raises(BadRequest, match="are published"):
        publish_now(connection, sight)


def test_nothing_is_published_while_other_phases_are_to_come(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, -HOUR, HOUR)
    plan(engine, "test", PhaseKind.BLIND, 2 * HOUR, 3 * HOUR)
    with changing(engine) as (connection, sight), pytest.raises(Taken, match="test is still to come"):
        publish_now(connection, sight)


def test_who_looked_at_other_rules_changes_nothing(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, HOUR, 2 * HOUR)
    campaign_id = look(engine).campaign_id
    with writing(engine) as connection:
        version = version_of(connection, campaign_id)
    with writing(engine) as connection:
        to_change(connection, COMMAND_LINE, "wmt", f'"{version}"')
    plan(engine, "test", PhaseKind.BLIND, 3 * HOUR, 4 * HOUR)
    with writing(engine) as connection, pytest.raises(WebError, match="changed it meanwhile"):
        to_change(connection, COMMAND_LINE, "wmt", f'"{version}"')
