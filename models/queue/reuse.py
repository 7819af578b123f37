"""Statistics that are there already: found by what they depend on, and copied under new evaluations.

They depend on a text, the reference texts in their order, whether references may lack segments, the settled metric and
the edition of the numbers; not on the campaign, the system, the replicates or the seed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Integer, bindparam, func, insert, select

from models.corpus.protocols import ProtocolContent
from models.schema.base import BIG
from models.schema.corpus import Protocol, Reference, Submission, TestSet
from models.schema.queue import Evaluation
from models.schema.results import ReplicatePart, Score, ShardResult, Statistics
from models.schema.states import EvaluationState


@dataclass(frozen=True, slots=True)
class CachedStatistics:
    """A text that was measured by a metric against the same references."""

    evaluation_id: int
    metric: int
    """Position in the list of its own protocol."""
    text_id: int
    specification: str
    signature: str
    replicates: int
    seed: int


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """What is to be copied from one evaluation and metric to another."""

    source: CachedStatistics
    evaluation_id: int
    metric: int
    replicate_parts: bool
    """Whether also the sums of replicates that large shards have made."""


def find_cached_statistics(
    connection: Connection,
    measurement: ProtocolContent,
    texts: Collection[int],
    specifications: Collection[str],
    edition: int,
) -> list[CachedStatistics]:
    """What finished evaluations have of these texts and metrics, against the references of a protocol, by id.

    Of those that differ in nothing but the evaluation the newest.
    """
    protocols = _protocols_alike(connection, measurement)
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
    """Copy statistics, in the database. A source that was deleted meanwhile leaves nothing."""
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


def _protocols_alike(connection: Connection, measurement: ProtocolContent) -> dict[int, tuple[int, int]]:
    """Protocols with the same reference texts in the same order: id -> (replicates, seed)."""
    shared = select(Reference.test_set_id).where(Reference.text_id == measurement.reference_texts[0])
    labelled: dict[int, dict[str, int]] = {}
    for row in connection.execute(
        select(Reference.test_set_id, Reference.label, Reference.text_id).where(Reference.test_set_id.in_(shared))
    ):
        labelled.setdefault(row.test_set_id, {})[row.label] = row.text_id
    protocols = connection.execute(
        select(Protocol.id, Protocol.test_set_id, Protocol.reference_labels, Protocol.replicates, Protocol.seed)
        .join(TestSet, TestSet.id == Protocol.test_set_id)
        .where(
            TestSet.id.in_(labelled),
            TestSet.variable_references.is_(measurement.variable_references),
        )
    )
    return {
        row.id: (row.replicates, row.seed)
        for row in protocols
        if tuple(labelled[row.test_set_id][label] for label in row.reference_labels) == measurement.reference_texts
    }


def _copying(table: type[ShardResult]) -> Any:
    # All but the key as it is, whatever columns there are.
    kept = [column for column in table.__table__.columns if column.name not in {"evaluation_id", "metric"}]  # type: ignore[attr-defined]
    chosen = select(bindparam("target", type_=BIG), bindparam("target_metric", type_=Integer()), *kept).where(
        table.evaluation_id == bindparam("source"), table.metric == bindparam("source_metric")
    )
    return insert(table).from_select(["evaluation_id", "metric", *(column.name for column in kept)], chosen)
