"""Test sets of a campaign: what the audit log says of them, and what goes with one that is removed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import func, select

from campaigns.accounts.principal import COMMAND_LINE, NOBODY
from campaigns.changes import lock_for_change
from campaigns.errors import BadRequest, Conflict, NotFound
from campaigns.permissions import read_access
from campaigns.phases import PhaseRules, add_phase
from campaigns.sandbox.limits import UNLIMITED
from campaigns.test_sets.files import InputTestSet, NamedContent, read_reference_files
from campaigns.test_sets.stored import find_campaign_test_set, remove_test_set, set_test_set
from campaigns.texts import source_text
from models.database.session import make_engine, reading, writing
from models.schema.accounts import AuditEntry
from models.schema.campaigns import CampaignProtocol, CampaignTestSet
from models.schema.roles import PhaseKind, Visibility
from steelyard.text.limits import OverLimit
from tests.service.campaigns import found, given, submit_output, with_test_set


def test_the_log_tells_references_that_are_shown_from_those_that_are_hidden(service_url: str) -> None:
    engine = make_engine(service_url)
    found(engine, "wmt")
    with_test_set(engine, "wmt")
    for released in (True, True, False):
        with writing(engine) as connection:
            access = lock_for_change(connection, COMMAND_LINE, "wmt")
            test_set = find_campaign_test_set(connection, access, "news")
            set_test_set(connection, access, test_set, released=released, early=True)
    with reading(engine) as connection:
        actions = list(connection.scalars(select(AuditEntry.action).order_by(AuditEntry.id)))
    assert actions[-2:] == ["test_set.release", "test_set.hide"]
    assert actions.count("test_set.release") == 1


def test_what_measured_a_test_set_goes_with_it_and_the_rest_stays(service_url: str) -> None:
    engine = make_engine(service_url)
    for name in ("wmt", "iwslt"):
        found(engine, name)
        with_test_set(engine, name)
    measures = select(func.count()).select_from(CampaignProtocol)
    with writing(engine) as connection:
        before = connection.scalar(measures)
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        remove_test_set(connection, access, find_campaign_test_set(connection, access, "news"))
        assert connection.scalar(measures) == before // 2 > 0
        assert connection.scalar(select(func.count()).select_from(CampaignTestSet)) == 1


def test_a_test_set_stays_while_anything_was_submitted_for_it_in_this_campaign(service_url: str) -> None:
    engine = make_engine(service_url)
    for name in ("wmt", "iwslt"):
        found(engine, name)
        with_test_set(engine, name)
    submit_output(engine, "wmt", "ants", "mast", b"1\ny\nz\n")
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        with pytest.raises(Conflict, match="has submissions"):
            remove_test_set(connection, access, find_campaign_test_set(connection, access, "news"))
        other = lock_for_change(connection, COMMAND_LINE, "iwslt")
        remove_test_set(connection, other, find_campaign_test_set(connection, other, "news"))
        assert connection.scalars(select(CampaignTestSet.campaign_id)).all() == [access.campaign_id]


def test_a_campaign_shows_and_hides_its_own_references_alone(service_url: str) -> None:
    """Another campaign has the same test set."""
    engine = make_engine(service_url)
    for name in ("wmt", "iwslt"):
        found(engine, name)
        with_test_set(engine, name)
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        set_test_set(connection, access, find_campaign_test_set(connection, access, "news"), released=True)
        released = select(CampaignTestSet.campaign_id).where(CampaignTestSet.references_released_at.is_not(None))
        assert connection.scalars(released).all() == [access.campaign_id]


def test_references_of_a_test_set_without_a_phase_stay_blind_while_any_phase_takes_outputs(service_url: str) -> None:
    engine = make_engine(service_url)
    found(engine, "wmt")
    with_test_set(engine, "wmt")
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        add_phase(connection, access, PhaseRules("test", PhaseKind.BLIND, access.at - 60.0, access.at + 3600.0))
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        test_set = find_campaign_test_set(connection, access, "news")
        assert test_set.phase_id is None
        with pytest.raises(Conflict, match='are accepted in the phase "test"'):
            set_test_set(connection, access, test_set, released=True)


def test_corrected_references_are_held_to_the_length_of_segments() -> None:
    limits = replace(UNLIMITED, segment_seconds=1.0)
    long = NamedContent("A.txt", b"short\n" + b"a b " * 20_000 + b"\n")
    assert read_reference_files([long], limits).keys() == {"A"}
    with pytest.raises(OverLimit, match=r"A\.txt, line 2: .* characters in one segment"):
        read_reference_files([long], limits, {"character"})


def test_a_test_set_has_a_name_and_is_in_a_campaign_once(service_url: str) -> None:
    engine = make_engine(service_url)
    found(engine, "wmt")
    for name in ("a/b", ".news", "-"):
        with pytest.raises(BadRequest) as refused:
            with_test_set(engine, "wmt", name=name)
        assert str(refused.value).startswith(f"{name!r} cannot be the name of a test set: it ")
    with_test_set(engine, "wmt")
    with pytest.raises(Conflict) as twice:
        with_test_set(engine, "wmt", name="talks")
    assert str(twice.value) == "The campaign already has a test set with identical content."
    with reading(engine) as connection:
        assert connection.scalars(select(CampaignTestSet.name)).all() == ["news"]


def test_a_source_is_there_once_its_phase_has_begun_and_if_there_is_one(service_url: str) -> None:
    engine = make_engine(service_url)
    found(engine, "wmt", visibility=Visibility.PUBLIC)
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        add_phase(connection, access, PhaseRules("later", PhaseKind.OPEN, access.at + 3600.0, access.at + 7200.0))
    whole = with_test_set(engine, "wmt")
    later = with_test_set(engine, "wmt", given(b"x\ny\nz\n"), name="talks", phase="later")
    without = with_test_set(engine, "wmt", InputTestSet([NamedContent("A.txt", b"u\nv\nw\n")]), name="bare")
    with reading(engine) as connection:
        for who, test_sets in ((NOBODY, (later, without)), (COMMAND_LINE, (without,))):
            access = read_access(connection, who, "wmt")
            assert source_text(connection, access, whole)
            for test_set in test_sets:
                with pytest.raises(NotFound) as refused:
                    source_text(connection, access, test_set)
                assert str(refused.value) == "The source of this test set is not available yet."
        assert source_text(connection, read_access(connection, COMMAND_LINE, "wmt"), later)
