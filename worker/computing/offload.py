"""Moves large shard results to the store of statistics, before their transaction begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from models.queue.kinds.shards import ShardRow
from models.storage.blobs import Blob, write_object


def offload_results(rows: Sequence[ShardRow], store: str | None, least: int) -> list[ShardRow]:
    """The rows, with blobs of at least `least` bytes moved to the store; unchanged without a store.

    Raises
    ------
    BadStore
        If the store's address is invalid.
    OSError
        If the store cannot be written.
    """
    if not store:
        return list(rows)
    # A text that was submitted twice has identical blobs.
    written: dict[bytes, Blob] = {}

    def placed(blob: Blob) -> Blob:
        if not isinstance(blob, bytes) or len(blob) < least:
            return blob
        if blob not in written:
            written[blob] = write_object(blob, store)
        return written[blob]

    return [
        replace(
            row,
            statistics=placed(row.statistics),
            replicate_part=None if row.replicate_part is None else placed(row.replicate_part),
        )
        for row in rows
    ]
