"""Test sets of a campaign: stored, bound to a phase; their references hidden or released."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, delete, func, select, update

from campaigns.errors import BadRequest, Conflict, NotFound
from campaigns.fields.short_text import short_text
from campaigns.measures import MeasureRequest, add_measures
from campaigns.permissions import CampaignAccess
from campaigns.phases import find_phase
from models.corpus.test_sets import match_test_set, short_address
from models.schema.base import now
from models.schema.campaigns import CampaignProtocol, CampaignTestSet, is_campaign_test_set
from models.schema.corpus import Protocol, Reference, Submission, TestSet
from runtime.settings import Settings
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from steelyard.text.names import MAX_NAME_LENGTH, fault_of_name

if TYPE_CHECKING:
    from steelyard.formats.campaign.folder import CampaignFolder


@dataclass(frozen=True, slots=True)
class CampaignTestSetInfo:
    """A test set of a campaign, for display."""

    id: int
    name: str
    version: str
    segments: int
    source_language: str
    target_language: str
    has_source: bool
    references: tuple[str, ...]
    """Labels."""
    phase_id: int | None
    phase: str
    """Name of the only phase in which outputs for it are accepted; "" for all."""
    released_at: float | None
    replaced_by: int | None

    @property
    def title(self) -> str:
        """Its name, with the version if that is not the first."""
        return short_address(self.name, self.version)


def add_test_set(
    connection: Connection,
    settings: Settings,
    access: CampaignAccess,
    name: str,
    folder: CampaignFolder,
    measuring: MeasureRequest,
    *,
    phase: str = "",
) -> tuple[int, list[str]]:
    """Store a test set in a locked campaign (`lock_for_change`), with its metrics; its id, and notices.

    Raises
    ------
    BadRequest
        If a value is invalid.
    Conflict
        If it contradicts what is stored.
    BadIngest
        If the texts do not fit the test set.
    MetricsError
        If a metric does not exist.
    """
    name = short_text(name, "The name", MAX_NAME_LENGTH)
    if fault := fault_of_name(name):
        raise BadRequest(f"{name[:50]!r} cannot be the name of a test set: {fault}.")
    phase_id = find_phase(access, phase).id if phase else None
    test_set_id = store_test_set(connection, access.campaign_id, NewTestSet.from_folder(name, folder))
    if test_set_id in access.test_sets:
        raise Conflict("The campaign already has a test set with identical content.")
    _change(connection, access, test_set_id, phase_id=phase_id)
    audit_test_set(connection, access, "test_set.add", test_set_id, phase=phase, references=list(folder.references))
    notices = add_measures(connection, settings, access, test_set_id, measuring)
    return test_set_id, [*folder.notices, *notices]


def list_campaign_test_sets(connection: Connection, access: CampaignAccess) -> list[CampaignTestSetInfo]:
    """Return the visible test sets in their order, replaced ones last."""
    ids = [each for each in access.test_sets if each not in access.hidden_test_sets]
    if not ids:
        return []
    labels: dict[int, list[str]] = {}
    for reference in connection.execute(
        select(Reference.test_set_id, Reference.label)
        .where(Reference.test_set_id.in_(ids))
        .order_by(Reference.test_set_id, Reference.position)
    ):
        labels.setdefault(reference.test_set_id, []).append(reference.label)
    names = {phase.id: phase.name for phase in access.phases}
    found = []
    for test_set in connection.execute(select(TestSet).where(TestSet.id.in_(ids))):
        row: Any = test_set
        seen = access.test_sets[row.id]
        found.append(
            CampaignTestSetInfo(
                id=row.id,
                name=seen.name,
                version=seen.version,
                segments=row.segments,
                source_language=row.source_language,
                target_language=row.target_language,
                has_source=row.source_text_id is not None,
                references=tuple(labels.get(row.id, ())),
                phase_id=seen.phase_id,
                phase=names.get(seen.phase_id, "") if seen.phase_id is not None else "",
                released_at=seen.released_at,
                replaced_by=seen.replaced_by,
            )
        )
    return sorted(found, key=lambda each: (each.replaced_by is not None, ids.index(each.id)))


def find_campaign_test_set(connection: Connection, access: CampaignAccess, wanted: str | int) -> CampaignTestSetInfo:
    """Return the test set with that name (`match_test_set`), preferring current ones over replaced ones.

    Raises
    ------
    NotFound
        If it does not exist; the message lists the existing names.
    """
    known = list_campaign_test_sets(connection, access)
    if (found := match_test_set(known, str(wanted))) is not None:
        return found
    there = f"There are: {', '.join(each.title for each in known)}." if known else "It has none yet."
    raise NotFound(f"The campaign has no test set {str(wanted)[:100]!r}. {there}")


def set_test_set(
    connection: Connection,
    access: CampaignAccess,
    test_set: CampaignTestSetInfo,
    *,
    phase: str | None = None,
    released: bool | None = None,
    early: bool = False,
) -> None:
    """Bind a test set of a locked campaign to a phase, or to none (""); release or hide its references.

    Raises
    ------
    BadRequest
        If a value is invalid.
    Conflict
        If references would be released while outputs are accepted, unless `early` confirms it.
    """
    values: dict[str, Any] = {}
    if phase is not None:
        values["phase_id"] = find_phase(access, phase).id if phase else None
    if released is not None and released != (test_set.released_at is not None):
        if released and not early and (why := _why_not_release(access, test_set)):
            raise Conflict(
                f"{why} Anyone who sees the references can copy them. Confirm the early release to do it anyway."
            )
        values["references_released_at"] = now() if released else None
    if not values:
        return
    _change(connection, access, test_set.id, **values)
    if phase is not None and phase != test_set.phase:
        audit_test_set(connection, access, "test_set.phase", test_set.id, phase=[test_set.phase, phase])
    if "references_released_at" in values:
        audit_test_set(connection, access, "test_set.release" if released else "test_set.hide", test_set.id)


def _change(connection: Connection, access: CampaignAccess, test_set_id: int, **values: Any) -> None:
    where = is_campaign_test_set(access.campaign_id, test_set_id)
    connection.execute(update(CampaignTestSet).where(where).values(**values))


def remove_test_set(connection: Connection, access: CampaignAccess, test_set: CampaignTestSetInfo) -> None:
    """Remove a test set without submissions from a campaign.

    Raises
    ------
    Conflict
        If it contradicts what is stored.
    """
    submissions = connection.scalar(
        select(func.count())
        .select_from(Submission)
        .where(Submission.campaign_id == access.campaign_id, Submission.test_set_id == test_set.id)
    )
    if submissions or any(each.replaced_by == test_set.id for each in access.test_sets.values()):
        raise Conflict(f"The test set {test_set.title} has submissions, so it cannot be deleted.")
    on_it = select(Protocol.id).where(Protocol.test_set_id == test_set.id)
    protocols = CampaignProtocol.campaign_id == access.campaign_id, CampaignProtocol.protocol_id.in_(on_it)
    connection.execute(delete(CampaignProtocol).where(*protocols))
    audit_test_set(connection, access, "test_set.remove", test_set.id)
    connection.execute(delete(CampaignTestSet).where(is_campaign_test_set(access.campaign_id, test_set.id)))


def audit_test_set(
    connection: Connection, access: CampaignAccess, action: str, test_set_id: int, **details: Any
) -> None:
    """Write an audit log entry for a change to a test set."""
    named = read_test_set_name(connection, access, test_set_id)
    subject = f"test set {named.name}@{named.version} of campaign {access.name}"
    access.principal.audit(connection, action, subject, campaign_id=access.campaign_id, **details)


def read_test_set_name(connection: Connection, access: CampaignAccess, test_set_id: int) -> Row[int, str, str]:
    """Return id, name and version of a test set of the campaign, even one added in this transaction."""
    columns = (CampaignTestSet.test_set_id.label("id"), CampaignTestSet.name, CampaignTestSet.version)
    return connection.execute(select(*columns).where(is_campaign_test_set(access.campaign_id, test_set_id))).one()


def _why_not_release(access: CampaignAccess, test_set: CampaignTestSetInfo) -> str:
    """Return why the references of a test set should not be released now; "" if nothing speaks against it."""
    phases = [each for each in access.phases if test_set.phase_id in (None, each.id)]
    open_phases = [each for each in phases if each.takes(max(access.at, each.starts_at))]
    if not open_phases:
        return ""
    when = "are accepted" if any(each.starts_at <= access.at for each in open_phases) else "will be accepted"
    return f'Outputs for {test_set.title} {when} in the phase "{open_phases[0].name}".'
