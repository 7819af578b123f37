"""How a campaign measures: lists of references with metrics, on each of its test sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from campaigns.errors import BadRequest
from campaigns.permissions import Sight
from metrics import parse_metric
from metrics.registry import asked_metrics, parse_metrics
from metrics.resources import Resources
from metrics.segmentation import unsegmented_of, without_tokenizer
from metrics.surroundings import Surroundings, settle
from models.corpus.test_sets import read_references
from models.database.upsert import insert_if_absent
from models.schema.campaigns import CampaignProtocol, Declaration
from models.schema.corpus import Protocol, Submission, System
from models.schema.queue import Evaluation
from models.schema.states import QueueClass
from runtime.settings import Settings
from scheduler.enqueue.evaluations import queue_submissions
from scheduler.ingest.campaigns import NewProtocol, store_protocols

if TYPE_CHECKING:
    from metrics.base import Metric

DEFAULT_METRICS = ("bleu", "chrf", "ter")
MOST_METRICS = 50
MOST_REPLICATES = 100_000
MOST_LISTS = 50


@dataclass(frozen=True, slots=True)
class Measuring:
    """What is to be measured on a test set."""

    metrics: Sequence[str] = ()
    """Specifications; without any those of the campaign, else BLEU, chrF and TER."""
    reference_lists: Sequence[Sequence[str]] = ()
    """Lists of labels; without any each reference alone, then all together."""
    replicates: int = 1000
    seed: int = 12345


@dataclass(frozen=True, slots=True)
class KnownMeasure:
    """A list of references with metrics, on one test set."""

    id: int
    test_set_id: int
    references: tuple[str, ...]
    metrics: tuple[str, ...]
    replicates: int
    seed: int


def protocols_on(connection: Connection, campaign_id: int, test_set_id: int | None = None) -> list[KnownMeasure]:
    """How a campaign measures on a test set, or on all of them, in the order in which it was said."""
    measured = (
        select(Evaluation.protocol_id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(Submission.campaign_id == campaign_id)
        .union(select(CampaignProtocol.protocol_id).where(CampaignProtocol.campaign_id == campaign_id))
    )
    query = select(Protocol).where(Protocol.id.in_(measured), Protocol.sweep.is_(False)).order_by(Protocol.id)
    if test_set_id is not None:
        query = query.where(Protocol.test_set_id == test_set_id)
    return [
        KnownMeasure(row.id, row.test_set_id, tuple(row.reference_labels), tuple(row.metrics), row.replicates, row.seed)
        for row in connection.execute(query)
    ]


def tokenizer_notices(measures: Sequence[KnownMeasure], language: str) -> list[str]:
    """What organisers must know of the metrics on a test set in this language."""
    return unsegmented_of(list(dict.fromkeys(metric for each in measures for metric in each.metrics)), language)


def standing_submissions(connection: Connection, campaign_id: int, test_set_id: int) -> dict[int, str]:
    """All submissions for a test set that were not withdrawn, with their teams."""
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
    connection: Connection, settings: Settings, sight: Sight, test_set_id: int, measuring: Measuring
) -> list[str]:
    """Let a campaign (`to_change`) measure a test set of it so, too, and queue what was handed in; notices.

    What is measured on the same references already stays with it: a leaderboard grows by metrics.

    Raises BadRequest, BadIntake, and MetricsError for metrics that do not exist or lack something.
    """
    references = read_references(connection, test_set_id)
    if not 0 <= measuring.replicates <= MOST_REPLICATES:
        raise BadRequest(f"There can be from 0 to {MOST_REPLICATES:,} replicates.")
    known = protocols_on(connection, sight.campaign_id)
    asked = _asked(connection, measuring, known)
    lists = [tuple(each) for each in measuring.reference_lists] or _all_lists(references.labels)
    if len(asked) > MOST_METRICS or len(lists) > MOST_LISTS:
        raise BadRequest(f"At most {MOST_METRICS} metrics and {MOST_LISTS} lists of references are measured together.")
    resources = Resources(Path(settings.resource_folder))
    surroundings = Surroundings(references.language, references.layers, resources)
    metrics, notices = settle(asked, surroundings)
    on_it = {each.references: each for each in known if each.test_set_id == test_set_id}
    new = [_grown(on_it.get(each), each, metrics, measuring) for each in lists]
    protocols = store_protocols(connection, test_set_id, new)
    adopt_protocols(connection, settings, sight, test_set_id, protocols)
    sight.principal.audit(
        connection,
        "measures.add",
        f"test set {test_set_id} of campaign {sight.name}",
        campaign_id=sight.campaign_id,
        metrics=[metric.specification for metric in metrics],
        references=[list(each) for each in lists],
        replicates=measuring.replicates,
    )
    return notices


def asked_for(connection: Connection, sight: Sight, measuring: Measuring) -> list[Metric]:
    """What a campaign is to measure, as it is asked for. Raises MetricsError for metrics that do not exist."""
    return _asked(connection, measuring, protocols_on(connection, sight.campaign_id))


def _asked(connection: Connection, measuring: Measuring, known: Sequence[KnownMeasure]) -> list[Metric]:
    """The metrics that are asked for, else those of the campaign, for whatever target language."""
    if measuring.metrics or not known:
        return asked_metrics(measuring.metrics or DEFAULT_METRICS)
    language = read_references(connection, known[-1].test_set_id).language
    return [without_tokenizer(each, language) for each in parse_metrics(known[-1].metrics)]


def adopt_protocols(
    connection: Connection, settings: Settings, sight: Sight, test_set_id: int, protocols: Sequence[int]
) -> int:
    """Let a campaign measure by these protocols, and queue what stands on their test set; how many submissions."""
    rows = [{"campaign_id": sight.campaign_id, "protocol_id": each} for each in sorted(set(protocols))]
    insert_if_absent(connection, CampaignProtocol, rows)
    standing = standing_submissions(connection, sight.campaign_id, test_set_id)
    for protocol in sorted(set(protocols)):
        # All together, for the reference side is read once for all: it is the organisers who ask for it.
        queue_submissions(
            *(connection, settings, protocol, list(standing)),
            queue_class=QueueClass.CAMPAIGN,
            team="",
            processes=None,
        )
    return len(standing)


def _grown(
    known: KnownMeasure | None, references: Sequence[str], metrics: Sequence[Metric], measuring: Measuring
) -> NewProtocol:
    """What is measured on a list of references so far and what is new, together: one leaderboard says it all."""
    if known is None:
        return NewProtocol(references, metrics, measuring.replicates, measuring.seed)
    before = [parse_metric(each) for each in known.metrics]
    there = {metric.specification for metric in before}
    more = [metric for metric in metrics if metric.specification not in there]
    return NewProtocol(references, [*before, *more], max(known.replicates, measuring.replicates), known.seed)


def _all_lists(labels: Sequence[str]) -> list[tuple[str, ...]]:
    return [(label,) for label in labels] + ([tuple(labels)] if len(labels) > 1 else [])
