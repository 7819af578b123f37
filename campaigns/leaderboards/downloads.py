"""Leaderboards as files: CSV and TSV for tables and programs, LaTeX for papers."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from campaigns.leaderboards.documents import place_fields
from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.names import display_name
from campaigns.reports.board_rows import COLUMNS, rows_of, scored_cells
from campaigns.reports.numbers import digits
from steelyard.tables import delimited
from steelyard.tables.latex import booktabs, comments, escaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


def as_latex(view: BoardView, access: CampaignAccess) -> str:
    """Return a table in booktabs style, with a rule between clusters, and how it was made as comments below."""
    listed, ranges = view.listed, view.has_places
    header = ["Rank", *(["Range"] if ranges else []), "System", *view.titles]
    rows = [[escaped(cell) for cell in header]]
    rules = []
    cluster = None
    for line in view.lines:
        if line.place is not None:
            if cluster is not None and line.place.cluster != cluster:
                rules.append(len(rows))
            cluster = line.place.cluster
        rows.append([escaped(cell) for cell in _cells(view, access, line, ranges=ranges)])
    caption = f"{listed.name}, reference{'s'[len(listed.references) == 1 :]} {' + '.join(listed.references)}"
    columns = "r" + ("c" if ranges else "") + "l" + "r" * len(view.titles)
    table = booktabs(rows, columns, caption, rules=rules)
    notes = [f"Scores with {100 * LEVEL:g} % intervals from {listed.replicates} replicates, seed {listed.seed}."]
    notes += view.signatures
    return table + comments(notes)


def _cells(view: BoardView, access: CampaignAccess, line: BoardLine, *, ranges: bool) -> Sequence[str]:
    place = line.place
    shown_range = (
        "–" if place is None else f"{place.low}–{place.high}" if place.low != place.high else str(place.low),
    )
    scores = []
    for score in line.entry.scores:
        places = digits(score.scale)
        if score.score is None or math.isnan(score.score):
            scores.append("n/a")
            continue
        ends = score.interval
        shown = f" [{ends[0]:.{places}f}, {ends[1]:.{places}f}]" if ends else ""
        scores.append(f"{score.score:.{places}f}{shown}")
    scores += ["n/a"] * (len(view.titles) - len(scores))
    return (
        "–" if line.rank is None else str(line.rank),
        *(shown_range if ranges else ()),
        display_name(access, line.entry).title,
        *scores,
    )
