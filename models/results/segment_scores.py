"""Scores by content: what a scorer said of texts is stored once, and found wherever these texts are scored again."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from hashlib import sha256

from sqlalchemy import Connection, delete, exists, select, update

from models.database.upsert import insert_ignore
from models.schema.base import now
from models.schema.learned import Scorer, SegmentScore
from steelyard.metrics.preparation.score_store import Scored

AT_ONCE = 900
"""Contents per statement: SQLite limits the parameters of one."""
DAY = 86400.0


def scorer_key(connection: Connection, description: str) -> int:
    """The id of a scorer, which is added if it is new."""
    digest = sha256(description.encode()).hexdigest()
    wanted = select(Scorer.id).where(Scorer.content_hash == digest)
    found: int | None = connection.scalar(wanted)
    if found is None:
        insert_ignore(connection, Scorer, [{"content_hash": digest, "description": description}])
        found = connection.execute(wanted).scalar_one()
    return found


def read_segment_scores(
    connection: Connection, scorer: str, digests: Sequence[bytes]
) -> dict[bytes, tuple[float, ...]]:
    """The stored values by content."""
    key = connection.scalar(select(Scorer.id).where(Scorer.content_hash == sha256(scorer.encode()).hexdigest()))
    found: dict[bytes, tuple[float, ...]] = {}
    for begin in range(0, len(digests) if key is not None else 0, AT_ONCE):
        some = digests[begin : begin + AT_ONCE]
        wanted = select(SegmentScore.content_hash, SegmentScore.numbers)
        for row in connection.execute(wanted.where(SegmentScore.scorer_id == key, SegmentScore.content_hash.in_(some))):
            found[bytes(row.content_hash)] = struct.unpack(f"<{len(row.numbers) // 8}d", row.numbers)
    return found


def store_segment_scores(
    connection: Connection, scorer: str, scored: Mapping[bytes, Scored]
) -> dict[bytes, tuple[float, ...]]:
    """Store what is new; what is stored from now on, for another worker may have been first."""
    key = scorer_key(connection, scorer)
    rows = [
        {
            "scorer_id": key,
            "content_hash": digest,
            "numbers": struct.pack(f"<{len(each.values)}d", *each.values),
            "beside": each.beside or None,
        }
        for digest, each in sorted(scored.items())
    ]
    insert_ignore(connection, SegmentScore, rows)
    return read_segment_scores(connection, scorer, list(scored))


def touch_segment_scores(connection: Connection, scorer: str, digests: Sequence[bytes]) -> None:
    """Note that these scores were needed: at most once a day, for retention."""
    key = scorer_key(connection, scorer)
    for begin in range(0, len(digests), AT_ONCE):
        some = digests[begin : begin + AT_ONCE]
        connection.execute(
            update(SegmentScore)
            .where(
                SegmentScore.scorer_id == key,
                SegmentScore.content_hash.in_(some),
                SegmentScore.used_at < now() - DAY,
            )
            .values(used_at=now())
        )


def prune_segment_scores(connection: Connection, keep_seconds: float, most: int) -> int:
    """Delete at most so many scores that were not needed for so long, and scorers without any; the number of scores.

    Leaderboards do not depend on them: only scoring the same texts again would take as long as the first time.
    """
    old = (
        select(SegmentScore.scorer_id, SegmentScore.content_hash)
        .where(SegmentScore.used_at < now() - keep_seconds)
        .order_by(SegmentScore.used_at)
        .limit(most)
    )
    rows = connection.execute(old).all()
    by_scorer: dict[int, list[bytes]] = {}
    for row in rows:
        by_scorer.setdefault(row.scorer_id, []).append(row.content_hash)
    for key, digests in by_scorer.items():
        connection.execute(
            delete(SegmentScore).where(SegmentScore.scorer_id == key, SegmentScore.content_hash.in_(digests))
        )
        empty = ~exists().where(SegmentScore.scorer_id == Scorer.id)
        connection.execute(delete(Scorer).where(Scorer.id == key, empty))
    return len(rows)
