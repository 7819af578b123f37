"""Leaderboards as files: their names, and the table for papers."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.names import display_name
from steelyard.tables.formatting import MISSING, digits, percentage
from steelyard.tables.table import Column, Estimate, Kind, Table
from steelyard.text.wording import of_documents, with_references

if TYPE_CHECKING:
    from campaigns.leaderboards.view import BoardLine, BoardView
    from campaigns.permissions import CampaignAccess

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def file_name(view: BoardView, ending: str) -> str:
    """Return a safe name for the file."""
    listed = view.listed
    parts = (_UNSAFE.sub("-", part).strip("-.")[:60] for part in (listed.campaign, listed.test_set, "leaderboard"))
    return "-".join(dict.fromkeys(part for part in parts if part)) + ending


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
    caption = with_references(listed.name, listed.references)
    replicates = f"{listed.replicates} replicates{of_documents(listed.resample)}, seed {listed.seed}"
    notes = [f"Scores with {percentage(LEVEL)} intervals from {replicates}."]
    return Table(columns, rows, caption, notes=[*notes, *view.signatures], rules=frozenset(rules))


def _cells(view: BoardView, access: CampaignAccess, line: BoardLine, *, ranges: bool) -> list[Any]:
    place = line.place and (line.place.low, line.place.high)
    scores: list[Estimate | None] = [Estimate(score.score, score.interval) for score in line.entry.scores]
    scores += [None] * (len(view.titles) - len(scores))
    return [line.rank, *([place] if ranges else []), display_name(access, line.entry).title, *scores]
