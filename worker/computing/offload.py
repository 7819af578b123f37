"""What a shard stores goes to the store of statistics, where there is one, before its transaction begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from models.queue.kinds.shards import ShardRow
from models.storage.blobs import Blob, write_object


def offload_results(rows: Sequence[ShardRow], store: str | None, least: int) -> list[ShardRow]:
    """The rows, with what has `least` bytes or more written to the store; all as they are without a store.

    Raises BadStore, OSError.
    """
    if not store:
        return list(rows)
    # Of a text that was submitted twice it is the same.
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
