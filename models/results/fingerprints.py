"""Fingerprints of scores, to tell whether two are identical to the bit."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from models.schema.results import Score


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A score and a digest of everything stored with it."""

    title: str
    """Of the metric."""
    signature: str
    score: float | None
    """None where the metric is undefined."""
    digest: str
    """SHA-256 of the score's bits, the sums and all replicate scores."""


def read_fingerprints(connection: Connection, evaluations: Sequence[int]) -> dict[tuple[int, int], Fingerprint]:
    """The fingerprints of all scores of these evaluations: (evaluation, position of the metric) -> fingerprint."""
    rows = connection.execute(
        select(
            *(Score.evaluation_id, Score.metric, Score.title, Score.signature),
            *(Score.score, Score.sums, Score.replicate_scores),
        ).where(Score.evaluation_id.in_(evaluations))
    )
    found = {}
    for row in rows:
        bits = b"" if row.score is None else struct.pack("<d", row.score)
        # Their lengths delimit the parts.
        parts = b"".join(struct.pack("<q", len(part)) + part for part in (bits, row.sums, row.replicate_scores))
        digest = hashlib.sha256(parts).hexdigest()
        found[row.evaluation_id, row.metric] = Fingerprint(row.title, row.signature, row.score, digest)
    return found
