"""Human judgments of a campaign: stored, noted in the audit log, removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine

from analysis.meta_evaluation.human import Matched
from campaigns.errors import BadRequest, NotThere
from campaigns.inspection.visible import VisibleTestSet, find_test_set, visible_test_sets
from campaigns.permissions import Sight
from metrics.errors import MetricsError
from metrics.human.judgments import Judged
from metrics.human.reading import Reading, read_judgments
from metrics.text.contents import Contents
from models.corpus.judgments import StoredJudgments, delete_judgments, list_judgments
from models.corpus.test_sets import Named, segments_of_documents
from models.database.session import reading, writing
from scheduler.ingest.judgments import NothingMatched, store_judged

if TYPE_CHECKING:
    from campaigns.accounts.principal import Principal


def read_tables(tables: Sequence[tuple[str, bytes]], how: Reading) -> Judged:
    """Tables of judgments, each with its name. Raises BadRequest."""
    try:
        return read_judgments([Contents(text, name=name) for name, text in tables], how)
    except MetricsError as error:
        first, *more = str(error).split("\n")
        raise BadRequest(first, details=more) from None


def _find_test_set(engine: Engine, sight: Sight, wanted: str) -> tuple[VisibleTestSet, dict[str, list[int]]]:
    with reading(engine) as connection:
        chosen = find_test_set(visible_test_sets(connection, sight), wanted)
        return chosen, segments_of_documents(connection, chosen.id)


def _store(
    engine: Engine, sight: Sight, chosen: VisibleTestSet, name: str, judged: Judged
) -> tuple[str, StoredJudgments, Matched]:
    with writing(engine, durable=True) as connection:
        try:
            taken = store_judged(connection, sight.campaign_id, chosen.id, name, judged)
        except NothingMatched as error:
            raise BadRequest(str(error)) from error
        if taken.new:
            note_added(connection, sight.principal, taken.stored, chosen, sight.campaign_id, **amounts(judged))
    return chosen.title, taken.stored, taken.matched


def note_added(
    connection: Connection,
    principal: Principal,
    stored: StoredJudgments,
    test_set: Named,
    campaign_id: int,
    **details: object,
) -> None:
    """Write into the audit log that human scores were added to a campaign."""
    principal.audit(connection, "human-scores.add", subject_of(stored, test_set), campaign_id=campaign_id, **details)


def amounts(judged: Judged) -> dict[str, int]:
    """How much was judged, for the audit log."""
    return {"systems": len(judged.systems), "segments": len(judged.segments)}


def note_removed(
    connection: Connection,
    principal: Principal,
    stored: StoredJudgments,
    test_set: Named,
    campaign_id: int,
) -> None:
    """Write into the audit log that human scores were deleted."""
    principal.audit(connection, "human-scores.remove", subject_of(stored, test_set), campaign_id=campaign_id)


def subject_of(stored: StoredJudgments, test_set: Named) -> str:
    """What the audit log calls them."""
    return f"human scores {stored.title} of test set {test_set.name}@{test_set.version}"


def remove_judgments(connection: Connection, sight: Sight, test_set: str, title: str) -> str:
    """Delete human scores in one version, `NAME@VERSION`; which they were.

    Raises Forbidden for others than organisers, and NotThere.
    """
    sight.require_organiser()
    chosen = find_test_set(visible_test_sets(connection, sight), test_set)
    stored = next(
        (each for each in list_judgments(connection, sight.campaign_id, chosen.id) if each.title == title), None
    )
    if stored is None:
        raise NotThere(f"There are no human scores {title[:200]!r} of the test set {chosen.title}.")
    delete_judgments(connection, stored.id)
    note_removed(connection, sight.principal, stored, chosen, sight.campaign_id)
    return stored.title
