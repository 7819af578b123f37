"""Scores by document, domain and length in every format, from their document."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.tables.formatting import digits
from steelyard.tables.rendering import render_document
from steelyard.tables.table import Column, Kind, Table
from steelyard.text.wording import number_of, with_references
from steelyard_client.vocabulary import Average, Grouping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.tables.delimited import Cell
    from steelyard_client.documents.leaderboards.breakdowns import BreakdownResponse

COLUMNS = (
    *("campaign", "test_set", "version", "references", "metric", "system", "rank", "micro", "macro"),
    *("by", "group", "domain", "segments", "score"),
)
"""Of CSV and TSV: a row for each system and group."""


def rendered(boards: Sequence[BreakdownResponse], form: str) -> str:
    """Return the scores of leaderboards in a format of tables."""
    return render_document(
        form,
        document=lambda: [each.model_dump(mode="json") for each in boards],
        data=lambda: (COLUMNS, [row for each in boards for row in rows_of(each)]),
        tables=lambda: [table_of(each) for each in boards],
        title="Scores by group",
    )


def rows_of(found: BreakdownResponse) -> list[list[Cell]]:
    """Return the rows of CSV and TSV, by the columns of `COLUMNS`."""
    begin: list[Cell] = [found.campaign, found.test_set, found.version, "+".join(found.references), found.metric]
    return [
        [
            *(*begin, system.name, system.rank, system.micro, system.macro),
            *(found.by.value, group.name, group.domain, group.segments, score),
        ]
        for system in found.systems
        for group, score in zip(found.groups, system.scores, strict=True)
    ]


def table_of(found: BreakdownResponse) -> Table:
    """Return a table for people: systems by domains; documents, of which there are more than systems, by systems."""
    places = digits(math.inf if found.scale is None else found.scale)
    arrow = "" if found.higher_is_better else ", lower is better"
    name = found.test_set if found.version == "1" else f"{found.test_set} (version {found.version})"
    title = f"{with_references(name, found.references)}: {found.title}{arrow} by {found.by}"
    if found.unit:
        title += f" in {found.unit} of the references"
    if found.by is Grouping.DOCUMENT:
        columns = [
            Column("document", "Document", Kind.NAME),
            Column("domain", "Domain"),
            Column("segments", "Segments", Kind.COUNT),
            *(Column(each.name, each.name, Kind.NUMBER, places=places) for each in found.systems),
        ]
        rows = [
            [group.name, group.domain, group.segments, *(each.scores[place] for each in found.systems)]
            for place, group in enumerate(found.groups)
        ]
        rows += [
            [called, "", None, *(getattr(each, called) for each in found.systems)] for called in ("micro", "macro")
        ]
        return Table(columns, rows, title, key=found.by.value)
    groups = "lengths" if found.by is Grouping.LENGTH else "domains"
    columns = [
        Column("rank", "Rank", Kind.ID, missing=""),
        Column("system", "System", Kind.NAME),
        Column("micro", "All", Kind.NUMBER, places=places),
        Column("macro", f"Mean of {groups}", Kind.NUMBER, places=places),
        *(
            Column(each.name, f"{each.name} ({number_of(each.segments, 'segment')})", Kind.NUMBER, places=places)
            for each in found.groups
        ),
    ]
    rows = [[each.rank, each.name, each.micro, each.macro, *each.scores] for each in found.systems]
    ranked = f"the mean of {groups}" if found.average is Average.MACRO else "the whole test set"
    return Table(columns, rows, f"{title}, ranked by {ranked}", key=found.by.value)
