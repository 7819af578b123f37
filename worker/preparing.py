"""States that metrics need of all references: counted, merged, and kept at hand once they are read."""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from metrics.batch import Batch
from metrics.preparation import preparation_of, preparations
from metrics.resources import Resources
from models.preparation import PreparedState, ProtocolState
from models.preparing import ClaimedPreparation, read_parts
from worker.errors import StateMissing
from worker.scoring import known_metric, read_texts

if TYPE_CHECKING:
    from metrics.preparation import Preparation

KEPT = 4
"""States that a process keeps decoded."""

LEVEL = 1
"""Of zlib, as for statistics: the tables shrink to a quarter, and more effort gains little."""

_kept: OrderedDict[str, Any] = OrderedDict()


def preparation_work(connection: Connection, claim: ClaimedPreparation, resources: Resources) -> Callable[[], bytes]:
    """Reads what a preparation works on; the work itself, to be done outside any transaction.

    It gives the part, or the whole state, compressed.
    """
    metric = known_metric(claim.metric)
    preparation = preparation_of(metric, claim.key)
    if claim.merges:
        parts = read_parts(connection, claim.prepared_state_id)
        return lambda: zlib.compress(preparation.merge([zlib.decompress(part) for part in parts]), LEVEL)
    blocks = claim.first_block, claim.last_block
    batch = Batch(
        read_texts(connection, claim.reference_texts, *blocks),
        [],
        claim.variable_references,
        layers={layer: read_texts(connection, claim.reference_texts, *blocks, layer) for layer in metric.layers},
        resources=resources,
    )
    return lambda: zlib.compress(preparation.count(batch), LEVEL)


def read_states(connection: Connection, protocol_id: int, specifications: Sequence[str]) -> dict[str, Any]:
    """What the metrics of a protocol need, by key. Raises StateMissing."""
    ways = preparations(map(known_metric, specifications))
    if not ways:
        return {}
    rows = connection.execute(
        select(PreparedState.id, PreparedState.key, PreparedState.content_hash)
        .join(ProtocolState, ProtocolState.prepared_state_id == PreparedState.id)
        .where(ProtocolState.protocol_id == protocol_id)
    )
    states = {row.key: _read(connection, row.id, row.content_hash, ways[row.key]) for row in rows if row.key in ways}
    if states.keys() != ways.keys():
        raise StateMissing
    return states


def _read(connection: Connection, prepared_state_id: int, content_hash: str, way: Preparation) -> Any:
    if content_hash not in _kept:
        blob = connection.scalar(select(PreparedState.blob).where(PreparedState.id == prepared_state_id))
        if blob is None:
            raise StateMissing
        _kept[content_hash] = way.read(zlib.decompress(blob))
        if len(_kept) > KEPT:
            _kept.popitem(last=False)
    _kept.move_to_end(content_hash)
    return _kept[content_hash]
