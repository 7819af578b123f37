"""Publishing the results: what runs ends, what was planned begins, what would come before is deleted if confirmed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Engine, select, update

from campaigns.errors import BadRequest, Conflict
from campaigns.phases import PhaseRules, add_phase, change_phase, find_phase, rules_of
from campaigns.publication import plan_publication, publish_now
from campaigns.test_sets.stored import list_campaign_test_sets
from models.database.session import reading, writing
from models.schema.accounts import AuditEntry
from models.schema.campaigns import Campaign
from models.schema.roles import LateRule, PhaseKind
from tests.campaigns.test_phases import HOUR, changing, engine, look, plan
from tests.faults.cluster import until
from tests.service.campaigns import submit_output, with_test_set

__all__ = ["engine"]


@pytest.mark.parametrize("planned", [True, False])
def test_publishing_ends_what_runs_and_begins_what_was_planned(engine: Engine, planned: bool) -> None:
    plan(engine, "test", PhaseKind.BLIND, -HOUR, HOUR)
    if planned:
        plan(engine, "results", PhaseKind.PUBLISHED, 2 * HOUR)
    assert not look(engine).published
    with changing(engine) as (connection, access):
        publish_now(connection, access)
    access = look(engine)
    assert access.published
    assert [each.name for each in access.phases] == ["test", "results" if planned else "Published"]
    assert access.phases[0].ends_at == access.phases[1].starts_at
    with changing(engine) as (connection, access), pytest.raises(BadRequest, match="already published"):
        publish_now(connection, access)


def test_the_question_has_the_time_zone_of_the_campaign(engine: Engine) -> None:
    plan(engine, "test", PhaseKind.BLIND, HOUR, 2 * HOUR)
    with writing(engine) as connection:
        connection.execute(update(Campaign).values(time_zone="Asia/Kathmandu"))
    with changing(engine) as (connection, access), pytest.raises(Conflict) as refused:
        publish_now(connection, access)
    begins = datetime.fromtimestamp(access.phases[0].starts_at, ZoneInfo("Asia/Kathmandu"))
    assert f'"test" (blind, planned for {begins.day} {begins:%B %Y, %H:%M}' in str(refused.value)


def test_later_phases_are_deleted_once_that_is_confirmed(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, -HOUR, HOUR)
    plan(engine, "test", PhaseKind.BLIND, 2 * HOUR, 3 * HOUR)
    plan(engine, "quiet", PhaseKind.CLOSED, 4 * HOUR)
    plan(engine, "results", PhaseKind.PUBLISHED, 5 * HOUR)
    plan(engine, "again", PhaseKind.OPEN, 6 * HOUR)
    with_test_set(engine, "wmt", name="news", phase="test")
    with changing(engine) as (connection, access):
        told = plan_publication(access)
        assert [each.name for each in told.deletes] == ["test", "quiet"]
        assert [told.moved_from(each) for each in told.deletes] == [["news"], []]
        with pytest.raises(Conflict) as refused:
            publish_now(connection, access)
    for words in (
        '"test" (blind',
        '"quiet" (closed',
        "are still to come",
        'news would move to "dev"',
        "--delete-later",
    ):
        assert words in str(refused.value)
    assert not look(engine).published
    with changing(engine) as (connection, access):
        publish_now(connection, access, delete_later=True)
    access = look(engine)
    assert access.published
    assert [each.name for each in access.phases] == ["dev", "results", "again"], "what comes afterwards stays"
    with reading(engine) as connection:
        (test_set,) = list_campaign_test_sets(connection, access)
        audited = connection.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert test_set.phase == "dev"
    assert test_set.released_at is None
    assert audited[-5:] == ["phase.close", "test_set.phase", "phase.remove", "phase.remove", "campaign.publish"]


@pytest.mark.parametrize("planned", [True, False])
def test_before_the_first_phase_test_sets_move_to_that_of_publication(engine: Engine, planned: bool) -> None:
    plan(engine, "test", PhaseKind.BLIND, HOUR, 2 * HOUR)
    if planned:
        plan(engine, "results", PhaseKind.PUBLISHED, 3 * HOUR)
    with_test_set(engine, "wmt", name="news", phase="test")
    with changing(engine) as (connection, access):
        told = plan_publication(access)
        assert (told.ends, told.home.name if told.home else None) == (None, "results" if planned else None)
        publish_now(connection, access, delete_later=True)
    access = look(engine)
    assert [each.name for each in access.phases] == ["results" if planned else "Published"]
    with reading(engine) as connection:
        assert [each.phase for each in list_campaign_test_sets(connection, access)] == [access.phases[0].name]


def test_a_later_phase_with_submissions_is_never_deleted(engine: Engine) -> None:
    plan(engine, "test", PhaseKind.OPEN, -HOUR, HOUR)
    with_test_set(engine, "wmt", name="news")
    submit_output(engine, "wmt", "harbour", "mast", b"a\nb\nc\n")
    with changing(engine) as (connection, access):
        rules = rules_of(find_phase(access, "test"))
        moved = replace(rules, starts_at=access.at + HOUR, ends_at=access.at + 2 * HOUR)
        change_phase(connection, access, find_phase(access, "test"), moved)
    with changing(engine) as (connection, access), pytest.raises(Conflict, match="have submitted in the phase"):
        publish_now(connection, access, delete_later=True)


def test_results_that_were_published_once_before_get_another_name(engine: Engine) -> None:
    names = []
    for _ in range(3):
        with changing(engine) as (connection, access):
            publish_now(connection, access)
        names = [each.name for each in look(engine).phases]
        with changing(engine) as (connection, access):
            # Somebody lets teams in again.
            add_phase(connection, access, PhaseRules(f"again {len(names)}", PhaseKind.OPEN, access.at + 1e-3))
        until(lambda: not look(engine).published, "the next phase")
    assert [name for name in names if name.startswith("Published")] == ["Published", "Published 2", "Published 3"]


def test_publishing_leaves_a_phase_that_is_over_as_it_was(engine: Engine) -> None:
    plan(engine, "dev", PhaseKind.OPEN, -3 * HOUR, -2 * HOUR, late=LateRule.FLAG, grace_seconds=HOUR / 2)
    before = look(engine).phases[0]
    with changing(engine) as (connection, access):
        publish_now(connection, access)
    assert look(engine).phases[0] == before


@pytest.mark.parametrize("is_over", [True, False])
def test_a_plan_tells_of_the_end_of_what_runs_alone_and_later_rules_stay(engine: Engine, is_over: bool) -> None:
    plan(engine, "dev", PhaseKind.OPEN, -3 * HOUR, -2 * HOUR if is_over else HOUR)
    plan(engine, "results", PhaseKind.PUBLISHED, 2 * HOUR, 5 * HOUR)
    planned = rules_of(look(engine).phases[1])
    with changing(engine) as (connection, access):
        told = plan_publication(access)
        assert (told.ends and told.ends.name) == (None if is_over else "dev")
        assert (told.begins and told.begins.name) == "results"
        publish_now(connection, access)
    after = look(engine)
    assert rules_of(after.phases[1]) == replace(planned, starts_at=access.at)
