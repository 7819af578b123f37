"""Reuse of statistics: finds stored ones by everything that they depend on, and copies them to new evaluations.

They depend on a text, the reference texts in order, whether references may lack segments, the resolved metric, the
edition of the numbers and, where the metric reads it, the source; not on the campaign, the system, the replicates,
what these draw, or the seed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Integer, bindparam, exists, func, insert, select

from models.corpus.protocols import ProtocolContent
from models.schema.base import BIG
from models.schema.corpus import Protocol, Reference, Submission, TestSet
from models.schema.learned import LearnedColumn
from models.schema.queue import Evaluation
from models.schema.results import ReplicatePart, Score, ShardResult, Statistics
from models.schema.states import ColumnState, EvaluationState, ResamplingUnit


class Drawn(NamedTuple):
    """What a replicate part depends on besides the statistics."""

    replicates: int
    seed: int
    resample: ResamplingUnit
    documents_of: int
    """The test set whose documents are drawn; 0 where segments are."""


@dataclass(frozen=True, slots=True)
class CachedStatistics:
    """A text with stored statistics of a metric against the same references."""

    evaluation_id: int
    metric: int
    """The position in the metric list of its own protocol."""
    text_id: int
    specification: str
    signature: str
    drawn: Drawn
    source_text: int | None
    """What was translated: the statistics of a metric that reads it are those of another text with another source."""


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """A copy of statistics from one evaluation and metric to another."""

    source: CachedStatistics
    evaluation_id: int
    metric: int
    replicate_parts: bool
    """Whether to copy the replicate parts of large shards, too."""


def find_cached_statistics(
    connection: Connection,
    protocol: ProtocolContent,
    texts: Collection[int],
    specifications: Collection[str],
    edition: int,
) -> list[CachedStatistics]:
    """The statistics of these texts and metrics in finished evaluations with the same references, by id.

    Among those that differ only in the evaluation, the newest.
    """
    protocols = _equivalent_protocols(connection, protocol)
    newest = func.max(Evaluation.id).label("evaluation_id")
    key = (Evaluation.protocol_id, Submission.text_id, Score.metric, Score.specification, Score.signature)
    rows = connection.execute(
        select(newest, *key)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(Score, Score.evaluation_id == Evaluation.id)
        .where(
            Submission.text_id.in_(texts),
            Evaluation.protocol_id.in_(protocols),
            Evaluation.state == EvaluationState.DONE,
            Evaluation.edition == edition,
            Score.specification.in_(specifications),
            # One that a model or a program has not finished is undefined for now.
            ~exists().where(
                LearnedColumn.evaluation_id == Evaluation.id,
                LearnedColumn.metric == Score.metric,
                LearnedColumn.state != ColumnState.DONE,
            ),
        )
        .group_by(*key)
        .order_by(newest, Score.metric)
    )
    return [
        CachedStatistics(
            row.evaluation_id, row.metric, row.text_id, row.specification, row.signature, *protocols[row.protocol_id]
        )
        for row in rows
    ]


def copy_statistics(connection: Connection, copies: Sequence[CopyPlan]) -> None:
    """Copy statistics within the database. Sources deleted meanwhile are skipped."""
    for table, chosen in (
        (Statistics, copies),
        (ReplicatePart, [copy for copy in copies if copy.replicate_parts]),
    ):
        if chosen:
            connection.execute(
                _copying(table),
                [
                    {
                        "source": copy.source.evaluation_id,
                        "source_metric": copy.source.metric,
                        "target": copy.evaluation_id,
                        "target_metric": copy.metric,
                    }
                    for copy in chosen
                ],
            )


def drawn_by(replicates: int, seed: int, resample: ResamplingUnit, test_set_id: int) -> Drawn:
    """What the replicate parts of a protocol on this test set depend on."""
    return Drawn(replicates, seed, resample, 0 if resample == ResamplingUnit.SEGMENT else test_set_id)


def _equivalent_protocols(connection: Connection, protocol: ProtocolContent) -> dict[int, tuple[Drawn, int | None]]:
    """Protocols with the same reference texts in the same order: id -> (what is drawn, source text)."""
    if not protocol.reference_texts:
        return {}
    shared = select(Reference.test_set_id).where(Reference.text_id == protocol.reference_texts[0])
    labelled: dict[int, dict[str, int]] = {}
    for row in connection.execute(
        select(Reference.test_set_id, Reference.label, Reference.text_id).where(Reference.test_set_id.in_(shared))
    ):
        labelled.setdefault(row.test_set_id, {})[row.label] = row.text_id
    protocols = connection.execute(
        select(
            Protocol.id,
            Protocol.test_set_id,
            Protocol.reference_labels,
            Protocol.replicates,
            Protocol.seed,
            Protocol.resample,
            TestSet.source_text_id,
        )
        .join(TestSet, TestSet.id == Protocol.test_set_id)
        .where(
            TestSet.id.in_(labelled),
            TestSet.variable_references.is_(protocol.variable_references),
        )
    )
    return {
        row.id: (drawn_by(row.replicates, row.seed, row.resample, row.test_set_id), row.source_text_id)
        for row in protocols
        if tuple(labelled[row.test_set_id][label] for label in row.reference_labels) == protocol.reference_texts
    }


def _copying(table: type[ShardResult]) -> Any:
    # All columns but the key, whatever they are.
    kept = [column for column in table.__table__.columns if column.name not in {"evaluation_id", "metric"}]  # type: ignore[attr-defined]
    chosen = select(bindparam("target", type_=BIG), bindparam("target_metric", type_=Integer()), *kept).where(
        table.evaluation_id == bindparam("source"), table.metric == bindparam("source_metric")
    )
    return insert(table).from_select(["evaluation_id", "metric", *(column.name for column in kept)], chosen)
