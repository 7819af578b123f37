"""Stores texts with their linguistic layers, each only once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, select

from models.database.upsert import insert_ignore
from models.schema.corpus import LayerBlock, Text, TextBlock
from scheduler.errors import BadIngest
from steelyard.formats.layers import LAYERS
from steelyard.formats.plain import Text as PlainText

AT_ONCE = 64
"""Blocks per insert."""


@dataclass(frozen=True, slots=True)
class NewText:
    """A text to be stored: UTF-8 lines joined by newlines, without a final one, or a file."""

    lines: bytes | PlainText
    layers: Mapping[str, bytes] = field(default_factory=dict)
    """Its linguistic layers by name (`steelyard.formats.layers`), with the same number of lines."""

    @property
    def segments(self) -> int:
        """The number of lines."""
        return segment_count(self.lines)

    @property
    def sha256(self) -> str:
        """The hash that identifies the text.

        Without layers, it is the SHA-256 of the lines, each ended by a newline: that of the usual text file. With
        layers, it is that of all hashes, so that the same lines with other annotations are a different text.
        """
        plain = text_hash(self.lines)
        if not self.layers:
            return plain
        # No text file has this hash: the hashed bytes do not end in a newline.
        return digest(json.dumps([plain, [[name, text_hash(layer)] for name, layer in sorted(self.layers.items())]]))

    @property
    def size(self) -> int:
        """The number of bytes, without layers."""
        return len(self.lines) if isinstance(self.lines, bytes) else self.lines.size

    def check(self, called: str) -> None:
        """Raise BadIngest unless the layers are known and have as many lines as the text."""
        for name, layer in self.layers.items():
            if name not in LAYERS:
                raise BadIngest(
                    f"{called} has the layer {name!r}, which is not known here. Known: {', '.join(LAYERS)}."
                )
            if segment_count(layer) != self.segments:
                raise BadIngest(
                    f"{called} has {self.segments} lines, but {segment_count(layer)} in its layer {name!r}. "
                    "Give one line per segment."
                )


def store_texts(connection: Connection, texts: Sequence[NewText]) -> list[int]:
    """Store texts, each only once; their ids in the same order."""
    hashes = [text.sha256 for text in texts]
    known = _text_ids(connection, hashes)
    new = {key: text for key, text in zip(hashes, texts, strict=True) if key not in known}
    # Sorted: two transactions with different orders would deadlock.
    rows = [{"sha256": key, "segments": new[key].segments, "bytes": new[key].size} for key in sorted(new)]
    insert_ignore(connection, Text, rows)
    ids = _text_ids(connection, hashes)
    for key, text in new.items():
        _insert_blocks(connection, TextBlock, {"text_id": ids[key]}, text.lines)
        for name, layer in text.layers.items():
            _insert_blocks(connection, LayerBlock, {"text_id": ids[key], "layer": name}, layer)
    return [ids[key] for key in hashes]


def store_missing_texts(connection: Connection, hashes: Sequence[str], segments: int) -> list[int]:
    """Store texts of which only the number of segments is known: they have no blocks; their ids in the same order.

    Parameters
    ----------
    hashes : Sequence[str]
        A hash of what each would be the text of: no real text has it.
    """
    insert_ignore(connection, Text, [{"sha256": key, "segments": segments, "bytes": 0} for key in sorted(hashes)])
    ids = _text_ids(connection, hashes)
    return [ids[key] for key in hashes]


def text_blocks(text: bytes | PlainText) -> Iterator[bytes]:
    """A text in blocks of 256 segments, lines joined by newlines."""
    return PlainText("", text, segment_count(text)).runs(1) if isinstance(text, bytes) else text.runs(1)


def segment_count(text: bytes | PlainText) -> int:
    """The number of segments of a text without a final newline."""
    return text.count(b"\n") + 1 if isinstance(text, bytes) else text.segments


def text_hash(text: bytes | PlainText) -> str:
    """SHA-256 of the lines, each ended by a newline: that of the usual text file."""
    return PlainText("", text, 1).sha256 if isinstance(text, bytes) else text.sha256


def digest(described: str) -> str:
    """The SHA-256 of a description."""
    return hashlib.sha256(described.encode()).hexdigest()


def _insert_blocks(
    connection: Connection, table: type[TextBlock | LayerBlock], key: Mapping[str, Any], text: bytes | PlainText
) -> None:
    # A text in a file is never in memory as a whole.
    for _, blocks in groupby(enumerate(text_blocks(text)), key=lambda numbered: numbered[0] // AT_ONCE):
        rows = [{**key, "block": block, "content": content} for block, content in blocks]
        insert_ignore(connection, table, rows)


def _text_ids(connection: Connection, hashes: Sequence[str]) -> dict[str, int]:
    rows = connection.execute(select(Text.sha256, Text.id).where(Text.sha256.in_(set(hashes))))
    return {row.sha256: row.id for row in rows}


def checked_name(name: str, longest: int, what: str, *, empty: bool = False) -> str:
    """The name itself. Raises BadIngest if it is empty, too long or has a NUL."""
    if (not name and not empty) or len(name) > longest or "\0" in name:
        raise BadIngest(f"{name[:50]!r} cannot be the name of a {what}: give 1 to {longest} characters.")
    return name
