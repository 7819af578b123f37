"""Corrected references: a new version of a test set replaces the old one, and all submissions are scored again.

The old test set keeps all its scores, so that both can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection, bindparam, insert, select, update

from campaigns.errors import BadRequest, Conflict, NotFound
from campaigns.fields.short_text import short_text
from campaigns.inspection.judgments import audit_judgments_added
from campaigns.measures import MeasureInfo, add_protocols, protocols_on
from campaigns.permissions import CampaignAccess
from campaigns.test_sets.stored import CampaignTestSetInfo, audit_test_set, read_test_set_name
from models.corpus.judgments import copy_judgments
from models.schema.campaigns import (
    CampaignTestSet,
    Correction,
    Declaration,
    SubmissionFindings,
    SubmissionRequest,
    is_campaign_test_set,
)
from models.schema.corpus import Document, LayerBlock, Reference, Submission, TestSet, TextBlock
from models.schema.queue import Evaluation
from models.schema.states import OPEN
from runtime.settings import Settings
from scheduler.ingest.campaigns import NewProtocol, store_protocols
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from steelyard.formats.campaign.pairing import check_pairing
from steelyard.formats.plain import Text, check_same_length
from steelyard.metrics.registry import parse_metric

MAX_REASON_LENGTH = 2_000


@dataclass(frozen=True, slots=True)
class CorrectionInfo:
    """A test set of a campaign that was replaced by one with corrected references."""

    id: int
    old_test_set_id: int
    new_test_set_id: int
    test_set: str
    old_version: str
    new_version: str
    reason: str
    made_at: float


def correct_test_set(
    connection: Connection,
    settings: Settings,
    access: CampaignAccess,
    test_set: CampaignTestSetInfo,
    references: Mapping[str, Text],
    reason: str,
) -> int:
    """Replace references of a test set in a locked campaign (`lock_for_change`) and queue its submissions.

    Returns the id of the correction. All in this transaction: the new version, its protocols and its submissions. What
    the correction does not change is not scored again (`scheduler.enqueue.reuse`). Human judgments are copied, since
    source and segments are the same.

    Raises
    ------
    BadRequest
        If a value is invalid.
    Conflict
        If it contradicts what is stored.
    BadText
        If a text is invalid.
    BadIngest
        If the texts do not fit the test set.
    """
    reason = short_text(reason, "The reason", MAX_REASON_LENGTH, lines=True)
    if not reason:
        raise BadRequest(f"Give a reason for the correction, in at most {MAX_REASON_LENGTH:,} characters.")
    if test_set.replaced_by is not None:
        raise Conflict(f"The test set {test_set.title} has already been replaced. Correct its newest version.")
    old = _read_test_set(connection, test_set)
    new = _with_references(old, references, test_set)
    new_id = store_test_set(connection, access.campaign_id, new)
    if new_id == test_set.id:
        raise BadRequest("These references are identical to those of the test set.")
    if new_id in access.test_sets:
        raise Conflict("The campaign already has a test set with identical content.")
    _replace_test_set(connection, access, test_set, new_id)
    _carry_over(connection, access, test_set.id, new_id)
    old_measures = protocols_on(connection, access.campaign_id, test_set.id)
    protocols = store_protocols(connection, new_id, [_new_protocol(each) for each in old_measures])
    queued = add_protocols(connection, settings, access, new_id, protocols)
    row = {
        "campaign_id": access.campaign_id,
        "old_test_set_id": test_set.id,
        "new_test_set_id": new_id,
        "reason": reason,
    }
    carried = copy_judgments(connection, access.campaign_id, test_set.id, new_id)
    correction = int(connection.execute(insert(Correction).values(**row).returning(Correction.id)).scalar_one())
    details = {"corrected": sorted(references), "new_test_set": new_id, "submissions": queued, "reason": row["reason"]}
    details["judgments"] = len(carried)
    audit_test_set(connection, access, "test_set.correct", test_set.id, **details)
    corrected = read_test_set_name(connection, access, new_id)
    for each in carried:
        audit_judgments_added(connection, access.principal, each, corrected, access.campaign_id, carried=True)
    return correction


def list_corrections(
    connection: Connection, access: CampaignAccess, *, before: int | None = None, limit: int | None = None
) -> list[CorrectionInfo]:
    """Return the visible corrections, newest first: all, or `limit` with ids below `before`."""
    older = () if before is None else (Correction.id < before,)
    rows = connection.execute(
        select(Correction)
        .where(Correction.campaign_id == access.campaign_id, *older)
        .where(Correction.old_test_set_id.not_in(access.hidden_test_sets))
        .where(Correction.new_test_set_id.not_in(access.hidden_test_sets))
        .order_by(Correction.id.desc())
        .limit(limit)
    ).all()
    return [
        CorrectionInfo(
            id=row.id,
            old_test_set_id=row.old_test_set_id,
            new_test_set_id=row.new_test_set_id,
            test_set=access.test_sets[row.old_test_set_id].name,
            old_version=access.test_sets[row.old_test_set_id].version,
            new_version=access.test_sets[row.new_test_set_id].version,
            reason=row.reason,
            made_at=row.made_at,
        )
        for row in rows
    ]


def find_correction(connection: Connection, access: CampaignAccess, correction: int) -> CorrectionInfo:
    """Return the correction with that id.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    for known in list_corrections(connection, access):
        if known.id == correction:
            return known
    raise NotFound(f"The campaign has no correction {correction}.")


def count_open_evaluations(connection: Connection, campaign_id: int, test_set_id: int) -> int:
    """Return how many evaluations on a test set of a campaign are not finished."""
    rows = connection.scalars(
        select(Evaluation.id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(
            Submission.campaign_id == campaign_id,
            Submission.test_set_id == test_set_id,
            Evaluation.state.in_(OPEN),
        )
    )
    return len(list(rows))


def _new_protocol(measure: MeasureInfo) -> NewProtocol:
    metrics = [parse_metric(each) for each in measure.metrics]
    return NewProtocol(measure.references, metrics, measure.replicates, measure.seed, measure.resample)


def _read_test_set(connection: Connection, test_set: CampaignTestSetInfo) -> NewTestSet:
    """Return a stored test set in the form in which it was ingested."""
    row = connection.execute(select(TestSet).where(TestSet.id == test_set.id)).one()
    labelled = connection.execute(
        select(Reference.label, Reference.text_id)
        .where(Reference.test_set_id == test_set.id)
        .order_by(Reference.position)
    ).all()
    documents = connection.execute(
        select(Document).where(Document.test_set_id == test_set.id).order_by(Document.first_segment)
    ).all()
    ids = [each.segment_ids for each in documents]
    return NewTestSet(
        test_set.name,
        {each.label: _text(connection, each.text_id) for each in labelled},
        source=None if row.source_text_id is None else _text(connection, row.source_text_id),
        source_language=row.source_language,
        target_language=row.target_language,
        documents=[(each.name, each.domain, each.test_suite) for each in documents for _ in range(each.segments)],
        segment_ids=() if None in ids else [segment_id for of_document in ids for segment_id in of_document],
        variable_references=row.variable_references,
        layers={each.label: _layers(connection, each.text_id) for each in labelled},
    )


def _with_references(old: NewTestSet, references: Mapping[str, Text], test_set: CampaignTestSetInfo) -> NewTestSet:
    """Return the test set with these references replaced.

    Raises
    ------
    BadRequest
        If a value is invalid.
    BadText
        If a text is invalid.
    """
    strangers = sorted(references.keys() - old.references.keys())
    if strangers or not references:
        raise BadRequest(
            f"The test set {test_set.title} has the references {', '.join(old.references)}. Name each file after the "
            f"reference that it replaces{'; unknown: ' + ', '.join(strangers) if strangers else ''}."
        )
    stands = Text(f"the test set {test_set.title}", b"", test_set.segments, unit="segment")
    check_same_length(stands, list(references.values()))
    check_pairing(list(references.values()))
    layers = {
        label: dict(references[label].layers) if label in references else old.layers[label] for label in old.references
    }
    return replace(old, references={**old.references, **references}, layers=layers)


def _text(connection: Connection, text_id: int) -> bytes:
    blocks = connection.scalars(select(TextBlock.content).where(TextBlock.text_id == text_id).order_by(TextBlock.block))
    return b"\n".join(blocks)


def _layers(connection: Connection, text_id: int) -> dict[str, bytes]:
    layers: dict[str, list[bytes]] = {}
    for row in connection.execute(
        select(LayerBlock.layer, LayerBlock.content)
        .where(LayerBlock.text_id == text_id)
        .order_by(LayerBlock.layer, LayerBlock.block)
    ):
        layers.setdefault(row.layer, []).append(row.content)
    return {layer: b"\n".join(blocks) for layer, blocks in layers.items()}


def _replace_test_set(
    connection: Connection, access: CampaignAccess, test_set: CampaignTestSetInfo, new_id: int
) -> None:
    place = (CampaignTestSet.position, CampaignTestSet.phase_id, CampaignTestSet.references_released_at)
    where = is_campaign_test_set(access.campaign_id, test_set.id)
    old = connection.execute(select(*place).where(where)).one()._asdict()
    new = is_campaign_test_set(access.campaign_id, new_id)
    connection.execute(update(CampaignTestSet).where(new).values(**old))
    connection.execute(update(CampaignTestSet).where(where).values(replaced_by=new_id))


def _carry_over(connection: Connection, access: CampaignAccess, old_id: int, new_id: int) -> None:
    """Copy all submissions to the new test set, with their declarations.

    In their order and with their times, so that the latest of a system stays the latest. Withdrawn ones are copied too,
    since they can be reinstated; they are not scored.
    """
    columns = ("system_id", "run", "text_id", "created_at")
    old = connection.execute(
        select(Submission)
        .where(Submission.campaign_id == access.campaign_id, Submission.test_set_id == old_id)
        .order_by(Submission.id)
    ).all()
    if not old:
        return
    common = {"campaign_id": access.campaign_id, "test_set_id": new_id}
    new_ids = connection.scalars(
        insert(Submission).returning(Submission.id, sort_by_parameter_order=True),
        [{**common, **{name: getattr(row, name) for name in columns}} for row in old],
    ).all()
    new_of = {row.id: new for row, new in zip(old, new_ids, strict=True)}
    # A repeated request finds the current submission. The usage log stays: the quota was used by the old one.
    moved_requests = update(SubmissionRequest).where(SubmissionRequest.submission_id == bindparam("old_id"))
    connection.execute(
        moved_requests.values(submission_id=bindparam("new_id")),
        [{"old_id": before, "new_id": after} for before, after in new_of.items()],
    )
    for table in (Declaration, SubmissionFindings):
        rows = connection.execute(select(table).where(table.submission_id.in_(list(new_of)))).all()
        moved = {} if table is SubmissionFindings else {"test_set_id": new_id}
        copies = [{**row._asdict(), **moved, "submission_id": new_of[row.submission_id]} for row in rows]
        if copies:
            connection.execute(insert(table), copies)
