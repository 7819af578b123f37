"""Human judgments of a campaign: reading, storing, audit log entries, deleting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, select, update

from campaigns.errors import BadRequest, NotFound
from campaigns.inspection.visible import VisibleTestSet, find_test_set, visible_test_sets
from campaigns.permissions import CampaignAccess
from campaigns.previews import writing_unless_preview
from models.corpus.judgments import BadJudgments, StoredJudgments, delete_judgments, find_judgments
from models.corpus.judgments import rename_judgments as rename_stored
from models.corpus.test_sets import NamedTestSet, segments_of_documents
from models.database.session import reading
from models.errors import NotFound as ModelsNotFound
from models.schema.campaigns import Campaign
from models.schema.human import Judgments
from scheduler.ingest.judgments import IngestedJudgments, store_matched_judgments
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


@dataclass(frozen=True, slots=True)
class AddedJudgments:
    """Judgments that were stored, or would be."""

    test_set: str
    """Title of the test set."""
    segments: int
    """Of the test set."""
    ingested: IngestedJudgments
    judged: Judged
    preview: bool
    """Whether nothing was stored."""

    @property
    def notices(self) -> list[str]:
        """What was left out, and what to know: without names of annotators."""
        return [*self.judged.anonymous_notices, *self.ingested.notices]


def store_judgments_of(
    engine: Engine, access: CampaignAccess, chosen: VisibleTestSet, name: str, judged: Judged, *, preview: bool = False
) -> AddedJudgments:
    """Store judgments, or say what would be stored without storing anything.

    Raises
    ------
    BadRequest
        If none of the judged systems has a submission, and for errors that are marked where there is no text.
    """
    try:
        with writing_unless_preview(engine, preview=preview) as connection:
            ingested = _ingest(connection, access, chosen, name, judged)
    except BadJudgments as error:
        raise BadRequest(str(error)) from error
    return AddedJudgments(chosen.title, chosen.segments, ingested, judged, preview)


def _ingest(
    connection: Connection, access: CampaignAccess, chosen: VisibleTestSet, name: str, judged: Judged
) -> IngestedJudgments:
    ingested = store_matched_judgments(connection, access.campaign_id, chosen.id, name, judged)
    if ingested.new:
        audit_judgments_added(
            connection, access.principal, ingested.stored, chosen, access.campaign_id, **judgment_counts(judged)
        )
    return ingested


def rename_judgments(connection: Connection, access: CampaignAccess, test_set: str, name: str, to: str) -> None:
    """Give all versions of human scores another name; a campaign that ranks by them goes on doing so.

    Raises
    ------
    Forbidden
        For others than organisers.
    NotFound
        If they do not exist or are not visible.
    BadRequest
        For a bad name, and one that others have.
    """
    access.require_organiser()
    chosen = find_test_set(visible_test_sets(connection, access), test_set)
    try:
        rename_stored(connection, access.campaign_id, chosen.id, name, to)
    except BadJudgments as error:
        raise BadRequest(str(error)) from error
    except ModelsNotFound as error:
        raise NotFound(str(error)) from error
    left = connection.scalar(
        select(Judgments.id).where(Judgments.campaign_id == access.campaign_id, Judgments.name == name).limit(1)
    )
    ranked, at, version = access.human_judgments.partition("@")
    if ranked == name and left is None:
        connection.execute(
            update(Campaign).where(Campaign.id == access.campaign_id).values(human_judgments=f"{to}{at}{version}")
        )
    subject = f"human scores {name} of test set {chosen.name}@{chosen.version}"
    access.principal.audit(connection, "human-scores.rename", subject, campaign_id=access.campaign_id, name=[name, to])


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


def judgments_of(
    connection: Connection, access: CampaignAccess, test_set: str, title: str
) -> tuple[StoredJudgments, VisibleTestSet]:
    """Return one version of human scores, `NAME@VERSION` or `NAME` for the newest, and its test set, to an organiser.

    Raises
    ------
    Forbidden
        For others than organisers.
    NotFound
        If it does not exist or is not visible.
    """
    access.require_organiser()
    chosen = find_test_set(visible_test_sets(connection, access), test_set)
    try:
        return find_judgments(connection, access.campaign_id, chosen.id, title), chosen
    except ModelsNotFound as error:
        raise NotFound(str(error)) from error


def remove_judgments(connection: Connection, access: CampaignAccess, test_set: str, title: str) -> str:
    """Delete one version of human scores, as `judgments_of` names it; returns its title. Raises as it does."""
    stored, chosen = judgments_of(connection, access, test_set, title)
    delete_judgments(connection, stored.id)
    audit_judgments_removed(connection, access.principal, stored, chosen, access.campaign_id)
    return stored.title
