"""Corpus statistics: counts them, merges them, and caches what was read."""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from models.queue.kinds.corpus_statistics import ClaimedCorpusCount, CountedPart, counted_parts, read_part
from models.queue.state_chunks import find_chunks, read_chunk
from models.schema.base import BLOCK_SEGMENTS
from models.schema.queue import CorpusStatistics, ProtocolStatistics
from steelyard.metrics.corpus_statistics import corpus_statistics_of, needed_statistics
from steelyard.metrics.metric import EDITION
from steelyard.metrics.resources import Resources
from steelyard.metrics.segments import Segments
from steelyard.metrics.spill_buffer import AT_ONCE, SetAside
from worker.computing.scoring import cached_metric, read_texts
from worker.errors import CorpusStatisticsMissing, PartsMissing

if TYPE_CHECKING:
    from steelyard.metrics.corpus_statistics import CorpusStatistics as DeclaredStatistics

KEPT = 4
"""Decoded corpus statistics, or chunks of them, that a process caches."""

KEPT_BYTES = 1 << 26
"""Above this size, the least recently used entry is dropped before another is read."""

LEVEL = 1
"""zlib's level, as for statistics: the tables shrink to a quarter, and more effort gains little."""

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
    return lambda: zlib.compress(declared.count(segments), LEVEL)


@dataclass(frozen=True)
class MergedStatistics:
    """Merged corpus statistics, in one or several compressed chunks."""

    chapters: SetAside
    runs: Sequence[tuple[int, int]]
    """The blocks of each chunk, the end exclusive."""


def merging_work(connection: Connection, claim: ClaimedCorpusCount) -> Callable[[], MergedStatistics]:
    """As `counting_work`, for a task that merges."""
    declared = corpus_statistics_of(cached_metric(claim.metric), claim.state_key)
    counted = _all_parts(connection, claim)
    parts = SetAside()
    for number, part in enumerate(counted):
        parts.write(number, read_part(connection, part))
    return lambda: _merged(declared, counted, parts)


def _merged(declared: DeclaredStatistics, counted: Sequence[CountedPart], parts: SetAside) -> MergedStatistics:
    """Merge with streaming decompression and compression: neither counts nor chunks fit in memory at once."""
    chunks = SetAside()
    packing: dict[int, Any] = {}

    def write(chunk: int, piece: bytes) -> None:
        packer = packing.setdefault(chunk, zlib.compressobj(LEVEL))
        chunks.write(chunk, packer.compress(piece))

    chapter_of = declared.merge_in_chapters([_unpacked(parts.pieces(part)) for part in range(len(parts))], write)
    for chunk, packer in packing.items():
        chunks.write(chunk, packer.flush())
    runs = []
    for chunk in range(chapter_of[-1] + 1):
        own = [part for part, number in zip(counted, chapter_of, strict=True) if number == chunk]
        runs.append((own[0].first_block, own[-1].last_block))
    return MergedStatistics(chunks, runs)


def _unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress zlib data piece by piece."""
    unpacker = zlib.decompressobj()
    for piece in pieces:
        while piece:
            yield unpacker.decompress(piece, AT_ONCE)
            piece = unpacker.unconsumed_tail
    yield unpacker.flush()


def _all_parts(connection: Connection, claim: ClaimedCorpusCount) -> list[CountedPart]:
    """The parts of all blocks, each once. Raises PartsMissing."""
    counted = counted_parts(connection, claim.prepared_state_id)
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
    connection: Connection,
    protocol_id: int,
    specifications: Sequence[str],
    blocks: tuple[int, int],
    edition: int = EDITION,
) -> dict[str, Any]:
    """The corpus statistics, by key, that these metrics of a protocol need for some blocks, in this edition.

    The end of the blocks is exclusive.

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
        .join(ProtocolStatistics, ProtocolStatistics.prepared_state_id == CorpusStatistics.id)
        .where(ProtocolStatistics.protocol_id == protocol_id, CorpusStatistics.edition == edition)
    )
    states = {
        row.key: _read(connection, row.id, row.content_hash, declared[row.key], blocks)
        for row in rows
        if row.key in declared
    }
    if states.keys() != declared.keys():
        raise CorpusStatisticsMissing
    return states


def _read(
    connection: Connection,
    prepared_state_id: int,
    content_hash: str,
    declared: DeclaredStatistics,
    blocks: tuple[int, int],
) -> Any:
    if content_hash in _kept:
        return _keep(content_hash)
    blob = connection.scalar(select(CorpusStatistics.blob).where(CorpusStatistics.id == prepared_state_id))
    if blob is None:
        raise CorpusStatisticsMissing
    if blob:
        return _keep(content_hash, lambda: declared.read(zlib.decompress(blob)))
    chunks = find_chunks(connection, prepared_state_id, *blocks)
    if not chunks:
        raise CorpusStatisticsMissing
    name = f"{content_hash}:{chunks[0].first_block}-{chunks[-1].last_block}"
    return _keep(
        name, lambda: declared.read_chapters([zlib.decompress(read_chunk(connection, chunk)) for chunk in chunks])
    )


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
