"""Corpus statistics: counts them, merges them, and caches what was read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from isal import isal_zlib
from sqlalchemy import Connection, select

from models.queue.kinds.corpus_statistics import ClaimedCorpusCount, CountedPart, counted_parts, read_part
from models.schema.base import BLOCK_SEGMENTS
from models.schema.queue import CorpusStatistics, ProtocolStatistics
from steelyard.metrics.metric import EDITION
from steelyard.metrics.needed_statistics import corpus_statistics_of, needed_statistics
from steelyard.metrics.resources import Resources
from steelyard.metrics.segments import Segments
from worker.computing.scoring import cached_metric, read_texts
from worker.errors import CorpusStatisticsMissing, PartsMissing

if TYPE_CHECKING:
    from steelyard.metrics.corpus_statistics import CorpusStatistics as DeclaredStatistics

KEPT = 4
"""Decoded corpus statistics that a process caches."""

KEPT_BYTES = 1 << 26
"""Above this size, the least recently used entry is dropped before another is read."""

LEVEL = 1
"""As for statistics: the tables shrink to a third, and more effort gains little."""

_kept: OrderedDict[str, Any] = OrderedDict()


def counting_work(connection: Connection, claim: ClaimedCorpusCount, resources: Resources) -> Callable[[], bytes]:
    """Read the input of a count; the work itself, to be done outside any transaction.

    It returns the compressed counts.
    """
    metric = cached_metric(claim.metric)
    declared = corpus_statistics_of(metric, claim.state_key)
    blocks = claim.first_block, claim.last_block
    segments = Segments(
        references=read_texts(connection, claim.reference_texts, *blocks),
        hypotheses=[],
        variable_references=claim.variable_references,
        layers={layer: read_texts(connection, claim.reference_texts, *blocks, layer) for layer in metric.layers},
        resources=resources,
    )
    return lambda: isal_zlib.compress(declared.count(segments), LEVEL)


def merging_work(connection: Connection, claim: ClaimedCorpusCount) -> Callable[[], bytes]:
    """As `counting_work`, for a task that merges: it returns the compressed statistics."""
    declared = corpus_statistics_of(cached_metric(claim.metric), claim.state_key)
    parts = [read_part(connection, part) for part in _all_parts(connection, claim)]
    return lambda: isal_zlib.compress(declared.merge(map(isal_zlib.decompress, parts)), LEVEL)


def _all_parts(connection: Connection, claim: ClaimedCorpusCount) -> list[CountedPart]:
    """The parts of all blocks, each once. Raises PartsMissing."""
    counted = counted_parts(connection, claim.corpus_statistics_id)
    end = claim.first_block
    for first_block, last_block in (
        *((part.first_block, part.last_block) for part in counted),
        (claim.last_block, claim.last_block),
    ):
        if first_block != end:
            raise PartsMissing(
                f"The references have no part, or two, for segment {min(first_block, end) * BLOCK_SEGMENTS + 1}. "
                "Retry the evaluations: missing parts are counted then."
            )
        end = last_block
    return counted


def read_corpus_statistics(
    connection: Connection, protocol_id: int, specifications: Sequence[str], edition: int = EDITION
) -> dict[str, Any]:
    """The corpus statistics, by key, that these metrics of a protocol need, in this edition.

    Raises
    ------
    CorpusStatisticsMissing
        If they are not complete yet.
    """
    declared = needed_statistics(map(cached_metric, specifications))
    if not declared:
        return {}
    rows = connection.execute(
        select(CorpusStatistics.id, CorpusStatistics.key, CorpusStatistics.content_hash)
        .join(ProtocolStatistics, ProtocolStatistics.corpus_statistics_id == CorpusStatistics.id)
        .where(ProtocolStatistics.protocol_id == protocol_id, CorpusStatistics.edition == edition)
    )
    states = {
        row.key: _read(connection, row.id, row.content_hash, declared[row.key]) for row in rows if row.key in declared
    }
    if states.keys() != declared.keys():
        raise CorpusStatisticsMissing
    return states


def _read(connection: Connection, corpus_statistics_id: int, content_hash: str, declared: DeclaredStatistics) -> Any:
    if content_hash in _kept:
        return _keep(content_hash)
    blob = connection.scalar(select(CorpusStatistics.blob).where(CorpusStatistics.id == corpus_statistics_id))
    if blob is None:
        raise CorpusStatisticsMissing
    return _keep(content_hash, lambda: declared.read(isal_zlib.decompress(blob)))


def _keep(name: str, read: Callable[[], Any] | None = None) -> Any:
    """The cached value of this name, read if necessary."""
    if name not in _kept:
        assert read is not None
        # Make room first: the old and the new value together may be too large.
        while _kept and (len(_kept) >= KEPT or sum(getattr(each, "nbytes", 0) for each in _kept.values()) > KEPT_BYTES):
            _kept.popitem(last=False)
        _kept[name] = read()
    _kept.move_to_end(name)
    return _kept[name]
