"""States that metrics need of all references: counted, merged, and kept at hand once they are read."""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

from sqlalchemy import Connection, select

from metrics.base import EDITION
from metrics.batch import Batch
from metrics.preparation import preparation_of, preparations
from metrics.resources import Resources
from models.base import BLOCK_SEGMENTS
from models.preparation import PreparedState, ProtocolState
from models.preparing import ClaimedPreparation, CountedPart, read_parts
from worker.errors import PartsMissing, StateMissing
from worker.scoring import known_metric, read_texts

if TYPE_CHECKING:
    from metrics.preparation import Preparation

KEPT = 4
"""States that a process keeps decoded."""

LEVEL = 1
"""Of zlib, as for statistics: the tables shrink to a quarter, and more effort gains little."""

_kept: OrderedDict[str, Any] = OrderedDict()


class Unpacked(Sequence[bytes]):
    """Parts that are unpacked when they are looked at: those of a large test set do not fit in memory together."""

    def __init__(self, parts: Sequence[bytes]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return len(self._parts)

    @overload
    def __getitem__(self, place: int) -> bytes: ...
    @overload
    def __getitem__(self, place: slice) -> list[bytes]: ...
    def __getitem__(self, place: int | slice) -> bytes | list[bytes]:
        if isinstance(place, slice):
            return [zlib.decompress(part) for part in self._parts[place]]
        return zlib.decompress(self._parts[place])


def preparation_work(connection: Connection, claim: ClaimedPreparation, resources: Resources) -> Callable[[], bytes]:
    """Reads what a preparation works on; the work itself, to be done outside any transaction.

    It gives the part, or the whole state, compressed.
    """
    metric = known_metric(claim.metric)
    preparation = preparation_of(metric, claim.key)
    if claim.merges:
        parts = _all_parts(connection, claim)
        return lambda: zlib.compress(preparation.merge(Unpacked(parts)), LEVEL)
    blocks = claim.first_block, claim.last_block
    batch = Batch(
        read_texts(connection, claim.reference_texts, *blocks),
        [],
        claim.variable_references,
        layers={layer: read_texts(connection, claim.reference_texts, *blocks, layer) for layer in metric.layers},
        resources=resources,
    )
    return lambda: zlib.compress(preparation.count(batch), LEVEL)


def _all_parts(connection: Connection, claim: ClaimedPreparation) -> list[bytes]:
    """The parts of all blocks, each once. Raises PartsMissing."""
    counted = read_parts(connection, claim.prepared_state_id)
    end = claim.first_block
    for each in (*counted, CountedPart(claim.last_block, claim.last_block, b"")):
        if each.first_block != end:
            raise PartsMissing(
                f"The references have no part, or two, for segment {min(each.first_block, end) * BLOCK_SEGMENTS + 1}. "
                "Queue the evaluations again: what is lacking is counted then."
            )
        end = each.last_block
    return [each.part for each in counted]


def read_states(
    connection: Connection, protocol_id: int, specifications: Sequence[str], edition: int = EDITION
) -> dict[str, Any]:
    """What these metrics of a protocol need, by key, counted in this edition. Raises StateMissing."""
    ways = preparations(map(known_metric, specifications))
    if not ways:
        return {}
    rows = connection.execute(
        select(PreparedState.id, PreparedState.key, PreparedState.content_hash)
        .join(ProtocolState, ProtocolState.prepared_state_id == PreparedState.id)
        .where(ProtocolState.protocol_id == protocol_id, PreparedState.edition == edition)
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
