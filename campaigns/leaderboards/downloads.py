"""Leaderboards as files: CSV and TSV for tables and programs, LaTeX for papers."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from campaigns.leaderboards.documents import place_fields
from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.names import display_name
from campaigns.reports.board_rows import COLUMNS, rows_of, scored_cells
from steelyard.tables import delimited
from steelyard.tables.formatting import MISSING, digits, percentage
from steelyard.tables.table import Column, Estimate, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from campaigns.leaderboards.view import BoardLine, BoardView
    from campaigns.permissions import CampaignAccess
    from steelyard.tables.delimited import Cell

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def as_csv(view: BoardView, access: CampaignAccess) -> str:
    """Return one row per system and metric; empty if undefined."""
    return delimited.as_csv(COLUMNS, _rows(view, access))


def as_tsv(view: BoardView, access: CampaignAccess) -> str:
    """As `as_csv`, with tabs."""
    return delimited.as_tsv(COLUMNS, _rows(view, access))


def file_name(view: BoardView, ending: str) -> str:
    """Return a safe name for the file."""
    listed = view.listed
    parts = (_UNSAFE.sub("-", part).strip("-.")[:60] for part in (listed.campaign, listed.test_set, "leaderboard"))
    return "-".join(dict.fromkeys(part for part in parts if part)) + ending


def _rows(view: BoardView, access: CampaignAccess) -> Iterator[list[Cell]]:
    for line in view.lines:
        name = display_name(access, line.entry)
        scored = []
        for position, score in enumerate(line.entry.scores):
            place = place_fields(line.rank, line.place, shown=position == view.query.metric)
            scored.append(scored_cells(score.metric, place, score.score, score.interval, LEVEL, score.signature))
        yield from rows_of(view.listed, line.entry, name.system or name.title, name.team, scored)


def table_of(view: BoardView, access: CampaignAccess) -> Table:
    """Return the board for people: a line between clusters, and how it was made as notes."""
    listed, ranges = view.listed, view.has_places
    columns = [Column("rank", "Rank", Kind.ID, missing="–")]
    columns += [Column("range", "Range", Kind.RANGE, missing="–")] if ranges else []
    columns.append(Column("system", "System", Kind.NAME))
    scored = next((line.entry.scores for line in view.lines if line.entry.scores), ())
    for title, score in zip_longest(view.titles, scored):
        places = digits(score.scale) if score else 1
        columns.append(Column(title, title, Kind.ESTIMATE, places=places, missing=MISSING))
    rows = [_cells(view, access, line, ranges=ranges) for line in view.lines]
    rules = set()
    cluster = None
    for number, line in enumerate(view.lines):
        if line.place is not None:
            if cluster is not None and line.place.cluster != cluster:
                rules.add(number)
            cluster = line.place.cluster
    caption = f"{listed.name}, reference{'s'[len(listed.references) == 1 :]} {' + '.join(listed.references)}"
    notes = [f"Scores with {percentage(LEVEL)} intervals from {listed.replicates} replicates, seed {listed.seed}."]
    return Table(columns, rows, caption, notes=[*notes, *view.signatures], rules=frozenset(rules))


def _cells(view: BoardView, access: CampaignAccess, line: BoardLine, *, ranges: bool) -> list[Any]:
    place = line.place and (line.place.low, line.place.high)
    scores: list[Estimate | None] = [Estimate(score.score, score.interval) for score in line.entry.scores]
    scores += [None] * (len(view.titles) - len(scores))
    return [line.rank, *([place] if ranges else []), display_name(access, line.entry).title, *scores]
