"""The n-grams that one system of a leaderboard gets right and another misses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.breakdown.texts import read_outputs
from steelyard.errors import MetricsError
from steelyard.inspection.ngrams import ngram_differences
from steelyard.metrics.segments import Segments
from steelyard.tokenizers.registry import BY_CHARACTER, USUAL, prepared_text, tokenizer_name
from worker.computing.scoring import cached_metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from analysis.breakdown.texts import BoardTexts
    from analysis.leaderboard.board import Board
    from steelyard.inspection.ngrams import Lists

COUNTED_TOGETHER = 4_000
"""Segments up to which all pairs are counted together, since neighbours share a system; beyond, memory matters more."""


def read_ngrams(
    connection: Connection, board: Board, texts: BoardTexts, pairs: Sequence[tuple[int, int]], most: int
) -> list[Lists]:
    """For each pair of systems, by order, the n-grams that the first gets right more often, and vice versa."""
    if texts.segments > COUNTED_TOGETHER and len(pairs) > 1:
        return [found for pair in pairs for found in read_ngrams(connection, board, texts, [pair], most)]
    tokenizer, case = words_of(board.listed.metrics)
    systems = sorted({system for pair in pairs for system in pair})
    outputs = read_outputs(connection, [board.rows[system] for system in systems], texts.segments)
    segments = Segments(references=texts.references, hypotheses=outputs, variable_references=texts.variable_references)
    places = [(systems.index(first), systems.index(second)) for first, second in pairs]
    return ngram_differences(segments, places, tokenizer=tokenizer, case=case, most=most)


def words_of(metrics: Sequence[str]) -> tuple[str, str]:
    """Tokenizer and case of the first metric that counts words; 13a and case kept where none does.

    Tokenizers that are not installed here are skipped.
    """
    for specification in metrics:
        try:
            metric = cached_metric(specification)
        except MetricsError:
            continue
        tokenizer, case = getattr(metric, "tok", "none"), getattr(metric, "case", "mixed")
        if tokenizer_name(tokenizer) not in {"none", BY_CHARACTER} and _is_usable(tokenizer):
            return tokenizer, case
    return USUAL, "mixed"


def _is_usable(tokenizer: str) -> bool:
    """Whether the tokenizer and its resources are installed here: workers may have more than this process."""
    try:
        prepared_text(b"", tokenizer)
    except MetricsError:
        return False
    return True
