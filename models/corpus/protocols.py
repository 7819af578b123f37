"""Protocols: how a leaderboard is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from models.corpus.documents import resampled_documents
from models.errors import NotFound
from models.schema.column_types import stored
from models.schema.corpus import Protocol, Reference, TestSet
from models.schema.queue import Evaluation
from models.schema.states import ResamplingUnit

if TYPE_CHECKING:
    from steelyard.resampling.documents import Documents


KEPT_PROTOCOLS = 16
"""Protocols that are kept for a connection."""


@dataclass(frozen=True, slots=True)
class ProtocolContent:
    """A protocol with the facts about its test set that a worker needs."""

    protocol_id: int
    segments: int
    variable_references: bool
    reference_texts: tuple[int, ...]
    """Ids of the reference texts, in the protocol's order."""
    metrics: tuple[str, ...]
    replicates: int
    seed: int
    source_text: int | None = None
    """The id of the source, for metrics that read it; None where the test set has none."""
    resample: ResamplingUnit = ResamplingUnit.SEGMENT
    """What replicates draw and randomization tests exchange."""
    test_set_id: int = 0
    documents: Documents | None = field(default=None, compare=False)
    """Those that are drawn; None where segments are."""


def read_protocol(connection: Connection, protocol_id: int) -> ProtocolContent:
    """The protocol with this id.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    # A row for each reference, in one statement: every shard reads its protocol.
    rows = connection.execute(
        select(
            Protocol,
            TestSet.segments,
            TestSet.variable_references,
            TestSet.source_text_id,
            Reference.label,
            Reference.text_id,
        )
        .join(TestSet, TestSet.id == Protocol.test_set_id)
        .outerjoin(Reference, Reference.test_set_id == TestSet.id)
        .where(Protocol.id == protocol_id)
    ).all()
    if not rows:
        raise NotFound(f"There is no protocol {protocol_id}.")
    row = rows[0]
    texts = {each.label: each.text_id for each in rows}
    with stored("The references of a protocol"):
        reference_texts = tuple(texts[label] for label in row.reference_labels)
    return ProtocolContent(
        protocol_id=protocol_id,
        segments=row.segments,
        variable_references=row.variable_references,
        reference_texts=reference_texts,
        metrics=tuple(row.metrics),
        replicates=row.replicates,
        seed=row.seed,
        source_text=row.source_text_id,
        resample=row.resample,
        test_set_id=row.test_set_id,
        documents=resampled_documents(connection, row.test_set_id, row.segments, row.resample),
    )


def kept_protocol(connection: Connection, protocol_id: int) -> ProtocolContent:
    """As `read_protocol`, but read once for each connection: a protocol and its test set never change.

    Another database, or one that was restored, comes with other connections.
    """
    kept: dict[int, ProtocolContent] = connection.info.setdefault("protocols", {})
    if protocol_id not in kept:
        if len(kept) >= KEPT_PROTOCOLS:
            del kept[next(iter(kept))]
        kept[protocol_id] = read_protocol(connection, protocol_id)
    return kept[protocol_id]


def protocol_segments(connection: Connection, evaluations: Sequence[int]) -> dict[int, int]:
    """The number of segments that each of these evaluations measures."""
    rows = connection.execute(
        select(Evaluation.id, TestSet.segments)
        .join(Protocol, Protocol.id == Evaluation.protocol_id)
        .join(TestSet, TestSet.id == Protocol.test_set_id)
        .where(Evaluation.id.in_(evaluations))
    )
    return {row.id: row.segments for row in rows}
