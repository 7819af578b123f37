"""The n-grams that tell two systems apart, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.tables.rendering import render_document
from steelyard.tables.table import Column, Kind, Table

if TYPE_CHECKING:
    from steelyard_client.documents.leaderboards.ngrams import NgramsResponse

COLUMNS = ("campaign", "test_set", "version", "system", "against", "order", "ngram", "matches", "of_other", "possible")
"""Of CSV and TSV: a row for each n-gram."""


def rendered(found: NgramsResponse, form: str) -> str:
    """Return the n-grams in a format of tables."""
    return render_document(
        form,
        document=lambda: found.model_dump(mode="json"),
        data=lambda: (
            COLUMNS,
            [[found.campaign, found.test_set, found.version, *row] for side in (0, 1) for row in _rows(found, side)],
        ),
        tables=lambda: [_table(found, side) for side in (0, 1)],
        title=f"N-grams of {found.test_set}",
    )


def _rows(found: NgramsResponse, side: int) -> list[list[str | int]]:
    """Return system, other system, order, n-gram, matches of both, and possible ones, of what one has more often."""
    system, other = found.systems[side], found.systems[1 - side]
    return [
        [
            *(system.name, other.name, each.order, " ".join(each.words)),
            *((each.first, each.second) if side == 0 else (each.second, each.first)),
            each.possible,
        ]
        for each in found.ngrams
        if each.more_often_in == system.submission
    ]


def _table(found: NgramsResponse, side: int) -> Table:
    system, other = found.systems[side], found.systems[1 - side]
    name = found.test_set if found.version == "1" else f"{found.test_set} (version {found.version})"
    columns = [
        Column("order", "Words", Kind.ID),
        Column("ngram", "N-gram", Kind.NAME),
        Column("matches", system.name, Kind.COUNT),
        Column("of_other", other.name, Kind.COUNT),
        Column("possible", "Possible", Kind.COUNT),
    ]
    return Table(
        columns,
        [row[2:] for row in _rows(found, side)],
        f"{name}: more often in {system.name}",
        notes=[f"Words by the tokenizer {found.tokenizer}, case {found.case}."] if side else [],
        empty="None.",
        key=f"ngrams-{side + 1}",
    )
