"""Human judgments of a campaign: reading, storing, audit log entries, deleting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine

from analysis.meta_evaluation.human import Matched
from campaigns.errors import BadRequest, NotFound
from campaigns.inspection.visible import VisibleTestSet, find_test_set, visible_test_sets
from campaigns.permissions import CampaignAccess
from models.corpus.judgments import StoredJudgments, delete_judgments, list_judgments
from models.corpus.test_sets import NamedTestSet, segments_of_documents
from models.database.session import reading, writing
from scheduler.ingest.judgments import NothingMatched, store_matched_judgments
from steelyard.errors import MetricsError
from steelyard.formats.input.contents import Contents
from steelyard.meta_evaluation.human.judgments import Judged
from steelyard.meta_evaluation.human.reading import Reading, read_judgments

if TYPE_CHECKING:
    from campaigns.accounts.principal import Principal


def read_tables(tables: Sequence[tuple[str, bytes]], how: Reading) -> Judged:
    """Read named tables of judgments.

    Raises
    ------
    BadRequest
        If a value is invalid.
    """
    try:
        return read_judgments([Contents(text, name=name) for name, text in tables], how)
    except MetricsError as error:
        first, *more = str(error).split("\n")
        raise BadRequest(first, details=more) from None


def _find_test_set(engine: Engine, access: CampaignAccess, wanted: str) -> tuple[VisibleTestSet, dict[str, list[int]]]:
    with reading(engine) as connection:
        chosen = find_test_set(visible_test_sets(connection, access), wanted)
        return chosen, segments_of_documents(connection, chosen.id)


def _store(
    engine: Engine, access: CampaignAccess, chosen: VisibleTestSet, name: str, judged: Judged
) -> tuple[str, StoredJudgments, Matched]:
    with writing(engine, durable=True) as connection:
        try:
            ingested = store_matched_judgments(connection, access.campaign_id, chosen.id, name, judged)
        except NothingMatched as error:
            raise BadRequest(str(error)) from error
        if ingested.new:
            audit_judgments_added(
                connection, access.principal, ingested.stored, chosen, access.campaign_id, **judgment_counts(judged)
            )
    return chosen.title, ingested.stored, ingested.matched


def audit_judgments_added(
    connection: Connection,
    principal: Principal,
    stored: StoredJudgments,
    test_set: NamedTestSet,
    campaign_id: int,
    **details: object,
) -> None:
    """Write an audit log entry for human scores added to a campaign."""
    principal.audit(connection, "human-scores.add", audit_subject(stored, test_set), campaign_id=campaign_id, **details)


def judgment_counts(judged: Judged) -> dict[str, int]:
    """Return how much was judged, for the audit log."""
    return {"systems": len(judged.systems), "segments": len(judged.segments)}


def audit_judgments_removed(
    connection: Connection,
    principal: Principal,
    stored: StoredJudgments,
    test_set: NamedTestSet,
    campaign_id: int,
) -> None:
    """Write an audit log entry for deleted human scores."""
    principal.audit(connection, "human-scores.remove", audit_subject(stored, test_set), campaign_id=campaign_id)


def audit_subject(stored: StoredJudgments, test_set: NamedTestSet) -> str:
    """Return the name of human scores in the audit log."""
    return f"human scores {stored.title} of test set {test_set.name}@{test_set.version}"


def remove_judgments(connection: Connection, access: CampaignAccess, test_set: str, title: str) -> str:
    """Delete one version of human scores, `NAME@VERSION`; returns its name.

    Raises
    ------
    Forbidden
        For others than organisers.
    NotFound
        If it does not exist or is not visible.
    """
    access.require_organiser()
    chosen = find_test_set(visible_test_sets(connection, access), test_set)
    stored = next(
        (each for each in list_judgments(connection, access.campaign_id, chosen.id) if each.title == title), None
    )
    if stored is None:
        raise NotFound(f"There are no human scores {title[:200]!r} of the test set {chosen.title}.")
    delete_judgments(connection, stored.id)
    audit_judgments_removed(connection, access.principal, stored, chosen, access.campaign_id)
    return stored.title
