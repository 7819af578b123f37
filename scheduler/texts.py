"""Storing texts with their linguistic layers, each once however often it is given."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from metrics.text.layers import LAYERS
from models.base import BLOCK_SEGMENTS
from models.conflicts import insert_if_absent
from models.text import LayerBlock, Text, TextBlock
from scheduler.errors import BadIntake


@dataclass(frozen=True, slots=True)
class NewText:
    """A text to be stored: UTF-8 lines joined by newlines, without a final one."""

    lines: bytes
    layers: Mapping[str, bytes] = field(default_factory=dict)
    """Its linguistic layers by name (`metrics.text.layers`), each with as many lines."""

    @property
    def segments(self) -> int:
        """Number of lines."""
        return segment_count(self.lines)

    @property
    def sha256(self) -> str:
        """What the text is known by.

        Without layers it is the SHA-256 of the lines, each ended by a newline: that of the usual text file. With
        layers it is that of the hashes of all, so that the same lines annotated otherwise are another text.
        """
        plain = text_hash(self.lines)
        if not self.layers:
            return plain
        # No text file has this hash: what is hashed here does not end in a newline.
        return digest(json.dumps([plain, [[name, text_hash(layer)] for name, layer in sorted(self.layers.items())]]))

    def check(self, called: str) -> None:
        """Raise BadIntake unless the layers are known ones and have as many lines as the text."""
        for name, layer in self.layers.items():
            if name not in LAYERS:
                raise BadIntake(
                    f"{called} has the layer {name!r}, which is not known here. Known: {', '.join(LAYERS)}."
                )
            if segment_count(layer) != self.segments:
                raise BadIntake(
                    f"{called} has {self.segments} lines, but {segment_count(layer)} in its layer {name!r}. "
                    "Give one line per segment."
                )


def store_texts(connection: Connection, texts: Sequence[NewText]) -> list[int]:
    """Store texts, each once however often it is given; their ids in the same order."""
    hashes = [text.sha256 for text in texts]
    known = _text_ids(connection, hashes)
    new = {key: text for key, text in zip(hashes, texts, strict=True) if key not in known}
    # Sorted: two intakes that insert in different orders would wait for each other.
    rows = [{"sha256": key, "segments": new[key].segments, "bytes": len(new[key].lines)} for key in sorted(new)]
    insert_if_absent(connection, Text, rows)
    ids = _text_ids(connection, hashes)
    insert_if_absent(connection, TextBlock, [row for key, text in new.items() for row in _blocks(ids[key], text.lines)])
    layers = [
        {**row, "layer": name}
        for key, text in new.items()
        for name, layer in text.layers.items()
        for row in _blocks(ids[key], layer)
    ]
    insert_if_absent(connection, LayerBlock, layers)
    return [ids[key] for key in hashes]


def text_blocks(text: bytes) -> list[bytes]:
    """A text in blocks of 256 segments, lines joined by newlines."""
    lines = text.split(b"\n")
    return [b"\n".join(lines[begin : begin + BLOCK_SEGMENTS]) for begin in range(0, len(lines), BLOCK_SEGMENTS)]


def segment_count(text: bytes) -> int:
    """Segments of a text without a final newline."""
    return text.count(b"\n") + 1


def text_hash(text: bytes) -> str:
    """SHA-256 of the lines, each ended by a newline: that of the usual text file."""
    return hashlib.sha256(text + b"\n").hexdigest()


def digest(described: str) -> str:
    """SHA-256 of a description."""
    return hashlib.sha256(described.encode()).hexdigest()


def _blocks(text_id: int, text: bytes) -> list[dict[str, Any]]:
    return [{"text_id": text_id, "block": block, "content": content} for block, content in enumerate(text_blocks(text))]


def _text_ids(connection: Connection, hashes: Sequence[str]) -> dict[str, int]:
    rows = connection.execute(select(Text.sha256, Text.id).where(Text.sha256.in_(set(hashes))))
    return {row.sha256: row.id for row in rows}
