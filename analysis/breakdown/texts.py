"""The texts behind a leaderboard, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from models.corpus.protocols import read_protocol
from models.schema.corpus import Document, Protocol, Submission, TestSet
from steelyard.inspection.lengths import counts_characters, reference_lengths
from steelyard.inspection.partitions import Partition, Passage, by_length
from steelyard.text.blocks import block_count
from worker.computing.scoring import read_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from analysis.leaderboard.board import Board
    from models.results.leaderboard import LeaderboardRow

AT_ONCE = 64
"""Blocks whose words are counted at a time."""


@dataclass(frozen=True, eq=False)
class BoardTexts:
    """A test set as a leaderboard's protocol uses it. Texts are lines joined by newlines."""

    test_set_id: int
    segments: int
    source_language: str
    """A code such as `cs`, or empty where it is not known."""
    target_language: str
    variable_references: bool
    source: bytes | None
    references: Sequence[bytes]
    """The references of the protocol, in its order; empty, and no source, where texts were not requested."""
    by_length: Partition
    """Its segments by the mean length of their references, in words or, for some languages, in characters."""
    documents: Sequence[Passage]
    """In the order of the segments; empty where none are known."""


def read_board_texts(connection: Connection, board: Board, *, held: bool = True) -> BoardTexts:
    """The texts that all systems of a leaderboard share; without `held` only their lengths and documents."""
    protocol = read_protocol(connection, board.listed.protocol_id)
    test_set = connection.execute(
        select(TestSet)
        .join(Protocol, Protocol.test_set_id == TestSet.id)
        .where(Protocol.id == board.listed.protocol_id)
    ).one()
    documents = connection.execute(
        select(Document).where(Document.test_set_id == test_set.id).order_by(Document.first_segment)
    )
    references = protocol.reference_texts
    blocks = block_count(test_set.segments)
    texts = read_texts(connection, references, 0, blocks) if held else []
    source = [test_set.source_text_id] if held and test_set.source_text_id is not None else []
    sources = read_texts(connection, source, 0, blocks) if source else [None]
    return BoardTexts(
        test_set_id=test_set.id,
        segments=test_set.segments,
        source_language=test_set.source_language,
        target_language=test_set.target_language,
        variable_references=test_set.variable_references,
        source=sources[0],
        references=texts,
        by_length=read_by_length(connection, references, test_set.segments, test_set.target_language),
        documents=[Passage(row.first_segment, row.segments, row.name, row.domain) for row in documents],
    )


def read_by_length(connection: Connection, references: Sequence[int], segments: int, target_language: str) -> Partition:
    """Return segments by the mean length of some texts of theirs, as `BoardTexts.by_length`."""
    return by_length(read_lengths(connection, references, segments, target_language), target_language)


def read_lengths(
    connection: Connection, references: Sequence[int], segments: int, target_language: str
) -> Iterator[NDArray[np.float64]]:
    """Yield the mean lengths of texts, (segments,), of one part of them after the other."""
    characters, blocks = counts_characters(target_language), block_count(segments)
    for begin in range(0, blocks, AT_ONCE):
        texts = read_texts(connection, references, begin, min(begin + AT_ONCE, blocks))
        lines = [text.decode().split("\n") for text in texts]
        yield reference_lengths(lines, characters=characters)


def read_outputs(connection: Connection, rows: Sequence[LeaderboardRow], segments: int) -> list[bytes]:
    """The output of each system; for a system with several runs that of the first."""
    submissions = [row.submissions[0] for row in rows]
    stored = connection.execute(select(Submission.id, Submission.text_id).where(Submission.id.in_(submissions)))
    texts = {row.id: row.text_id for row in stored}
    return read_texts(connection, [texts[submission] for submission in submissions], 0, block_count(segments))
