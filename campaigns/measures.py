"""How a campaign scores: lists of references with metrics, on each of its test sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from campaigns.errors import BadRequest
from campaigns.permissions import CampaignAccess
from campaigns.pinned_autoranks import pinned_autoranks
from models.corpus.test_sets import read_references
from models.database.upsert import insert_ignore
from models.schema.campaigns import CampaignProtocol, Declaration
from models.schema.column_types import readable_rows
from models.schema.corpus import Protocol, Submission, System
from models.schema.queue import Evaluation
from models.schema.states import QueueClass, ResamplingUnit
from runtime.settings import Settings
from scheduler.enqueue.evaluations import enqueue_submissions
from scheduler.ingest.campaigns import NewProtocol, store_protocols
from steelyard.metrics.programs.registration import with_programs
from steelyard.metrics.registry import asked_metrics, installed_metrics, parse_metric, parse_metrics
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.segmentation import unsegmented, without_tokenizer
from steelyard.ranking.autorank import AUTORANK

if TYPE_CHECKING:
    from steelyard.metrics.metric import Metric

DEFAULT_METRICS = ("bleu", "chrf", "ter")
MAX_METRICS = 50
MAX_REPLICATES = 100_000
MAX_LISTS = 50


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """What to measure on a test set."""

    metrics: Sequence[str] = ()
    """Specifications; by default those of the campaign, else BLEU, chrF and TER."""
    reference_lists: Sequence[Sequence[str]] = ()
    """Lists of labels; by default each reference alone, then all together."""
    replicates: int = 1000
    seed: int = 12345
    resample: ResamplingUnit | None = None
    """What replicates draw; None for what those on the same references draw already, else segments."""


@dataclass(frozen=True, slots=True)
class MeasureInfo:
    """A protocol of a campaign: a list of references with metrics, on one test set."""

    id: int
    test_set_id: int
    references: tuple[str, ...]
    metrics: tuple[str, ...]
    replicates: int
    seed: int
    resample: ResamplingUnit


def protocols_on(connection: Connection, campaign_id: int, test_set_id: int | None = None) -> list[MeasureInfo]:
    """Return the protocols of a campaign on a test set, or on all, in the order in which they were added."""
    measured = (
        select(Evaluation.protocol_id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(Submission.campaign_id == campaign_id)
        .union(select(CampaignProtocol.protocol_id).where(CampaignProtocol.campaign_id == campaign_id))
    )
    query = select(Protocol).where(Protocol.id.in_(measured), Protocol.sweep.is_(False)).order_by(Protocol.id)
    if test_set_id is not None:
        query = query.where(Protocol.test_set_id == test_set_id)
    return readable_rows(
        connection.execute(query),
        lambda row: MeasureInfo(
            *(row.id, row.test_set_id, tuple(row.reference_labels), tuple(row.metrics)),
            *(row.replicates, row.seed, row.resample),
        ),
    )


def tokenizer_notices(measures: Sequence[MeasureInfo], language: str) -> list[str]:
    """Return warnings about metrics whose tokenizer does not suit this language."""
    return unsegmented(
        installed_metrics(list(dict.fromkeys(metric for each in measures for metric in each.metrics))), language
    )


def standing_submissions(connection: Connection, campaign_id: int, test_set_id: int) -> dict[int, str]:
    """Return all submissions for a test set that are not withdrawn: id -> team."""
    rows = connection.execute(
        select(Submission.id, System.team)
        .join(System, System.id == Submission.system_id)
        .outerjoin(Declaration, Declaration.submission_id == Submission.id)
        .where(
            Submission.campaign_id == campaign_id,
            Submission.test_set_id == test_set_id,
            Declaration.withdrawn_at.is_(None),
        )
        .order_by(Submission.id)
    )
    return {row.id: row.team for row in rows}


def add_measures(
    connection: Connection, settings: Settings, access: CampaignAccess, test_set_id: int, measuring: MeasureRequest
) -> list[str]:
    """Add metrics on a test set of a locked campaign (`lock_for_change`) and queue its submissions.

    Returns notices for the organisers. Metrics that are measured on the same references already are kept: the
    leaderboard gains columns.

    Raises
    ------
    BadRequest
        If a value is invalid.
    BadIngest
        If the texts do not fit the test set.
    MetricsError
        For metrics that do not exist or miss a layer or resource.
    """
    references = read_references(connection, test_set_id)
    if not 0 <= measuring.replicates <= MAX_REPLICATES:
        raise BadRequest(f"There can be from 0 to {MAX_REPLICATES:,} replicates.")
    known = protocols_on(connection, access.campaign_id)
    resources = Resources(Path(settings.resource_folder))
    asked = _requested_metrics(connection, measuring, known, resources)
    lists = [tuple(each) for each in measuring.reference_lists] or _all_lists(references.labels)
    if len(asked) > MAX_METRICS or len(lists) > MAX_LISTS:
        raise BadRequest(f"At most {MAX_METRICS} metrics and {MAX_LISTS} lists of references can be computed together.")
    context = RunContext(references.language, references.layers, resources)
    metrics, notices = resolve(asked, context)
    on_it = {each.references: each for each in known if each.test_set_id == test_set_id}
    new = [_merged_protocol(on_it.get(each), each, metrics, measuring) for each in lists]
    protocols = store_protocols(connection, test_set_id, new)
    add_protocols(connection, settings, access, test_set_id, protocols)
    access.principal.audit(
        connection,
        "measures.add",
        f"test set {test_set_id} of campaign {access.name}",
        campaign_id=access.campaign_id,
        metrics=[metric.specification for metric in metrics],
        references=[list(each) for each in lists],
        replicates=measuring.replicates,
        resample=[each.resample.value for each in new],
    )
    return notices


def parse_measure_request(
    connection: Connection, settings: Settings, access: CampaignAccess, measuring: MeasureRequest
) -> list[Metric]:
    """Return the metrics of a request.

    Raises
    ------
    MetricsError
        For metrics that do not exist.
    """
    resources = Resources(Path(settings.resource_folder))
    return _requested_metrics(connection, measuring, protocols_on(connection, access.campaign_id), resources)


def _requested_metrics(
    connection: Connection, measuring: MeasureRequest, known: Sequence[MeasureInfo], resources: Resources
) -> list[Metric]:
    """Return the requested metrics, by default those of the campaign, without a tokenizer for one language."""
    if measuring.metrics or not known:
        asked = with_programs(measuring.metrics or DEFAULT_METRICS, resources)
        return asked_metrics(asked, columns=[AUTORANK])
    language = read_references(connection, known[-1].test_set_id).language
    computed = [each for each in parse_metrics(known[-1].metrics) if each.reads_texts]
    return [without_tokenizer(each, language) for each in computed or asked_metrics(DEFAULT_METRICS)]


def add_protocols(
    connection: Connection, settings: Settings, access: CampaignAccess, test_set_id: int, protocols: Sequence[int]
) -> int:
    """Add protocols to a campaign and queue the submissions for their test set; how many there are."""
    rows = [{"campaign_id": access.campaign_id, "protocol_id": each} for each in sorted(set(protocols))]
    insert_ignore(connection, CampaignProtocol, rows)
    standing = standing_submissions(connection, access.campaign_id, test_set_id)
    for protocol in sorted(set(protocols)):
        # All together, so that the reference side is read once; not charged to a team, since organisers requested it.
        enqueue_submissions(
            *(connection, settings, protocol, list(standing)),
            queue_class=QueueClass.CAMPAIGN,
            team="",
            processes=None,
        )
    return len(standing)


def _merged_protocol(
    known: MeasureInfo | None, references: Sequence[str], metrics: Sequence[Metric], measuring: MeasureRequest
) -> NewProtocol:
    """Merge what is measured on a list of references with what is new, so that one leaderboard shows all."""
    if known is None:
        resample = measuring.resample or ResamplingUnit.SEGMENT
        return NewProtocol(references, pinned_autoranks(metrics), measuring.replicates, measuring.seed, resample)
    before = [parse_metric(each) for each in known.metrics]
    there = {metric.specification for metric in before}
    more = [metric for metric in metrics if metric.specification not in there]
    together = pinned_autoranks([*before, *more])
    resample = measuring.resample or known.resample
    return NewProtocol(references, together, max(known.replicates, measuring.replicates), known.seed, resample)


def _all_lists(labels: Sequence[str]) -> list[tuple[str, ...]]:
    if not labels:
        # A test set without texts has no references, and still a leaderboard.
        return [()]
    return [(label,) for label in labels] + ([tuple(labels)] if len(labels) > 1 else [])
