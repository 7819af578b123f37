"""Boards as files: CSV and TSV for tables and programs, LaTeX for papers."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from campaigns.leaderboards.documents import place_fields
from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.names import name_of
from campaigns.reports import delimited
from campaigns.reports.board_rows import COLUMNS, rows_of, scored_cells
from campaigns.reports.latex import booktabs, comments, escaped
from campaigns.reports.numbers import digits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from campaigns.leaderboards.view import BoardView, Line
    from campaigns.permissions import Sight
    from campaigns.reports.delimited import Cell

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def as_csv(view: BoardView, sight: Sight) -> str:
    """One row per system and metric; empty where undefined."""
    return delimited.as_csv(COLUMNS, _rows(view, sight))


def as_tsv(view: BoardView, sight: Sight) -> str:
    """The same with tabs."""
    return delimited.as_tsv(COLUMNS, _rows(view, sight))


def file_name(view: BoardView, ending: str) -> str:
    """A name for the file that cannot harm whoever saves it."""
    listed = view.listed
    parts = (_UNSAFE.sub("-", part).strip("-.")[:60] for part in (listed.campaign, listed.test_set, "leaderboard"))
    return "-".join(dict.fromkeys(part for part in parts if part)) + ending


def _rows(view: BoardView, sight: Sight) -> Iterator[list[Cell]]:
    for line in view.lines:
        name = name_of(sight, line.contender)
        scored = []
        for position, figure in enumerate(line.contender.figures):
            place = place_fields(line.rank, line.place, shown=position == view.wish.metric)
            scored.append(scored_cells(figure.metric, place, figure.score, figure.interval, LEVEL, figure.signature))
        yield from rows_of(view.listed, line.contender, name.system or name.title, name.team, scored)


def as_latex(view: BoardView, sight: Sight) -> str:
    """A table in booktabs' style, with a rule between clusters; how it was made as comments below."""
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
        rows.append([escaped(cell) for cell in _cells(view, sight, line, ranges=ranges)])
    caption = f"{listed.name}, reference{'s'[len(listed.references) == 1 :]} {' + '.join(listed.references)}"
    columns = "r" + ("c" if ranges else "") + "l" + "r" * len(view.titles)
    table = booktabs(rows, columns, caption, rules=rules)
    notes = [f"Scores with {100 * LEVEL:g} % intervals from {listed.replicates} replicates, seed {listed.seed}."]
    notes += view.signatures
    return table + comments(notes)


def _cells(view: BoardView, sight: Sight, line: Line, *, ranges: bool) -> Sequence[str]:
    place = line.place
    shown_range = (
        "–" if place is None else f"{place.low}–{place.high}" if place.low != place.high else str(place.low),
    )
    scores = []
    for figure in line.contender.figures:
        places = digits(figure.scale)
        if figure.score is None or math.isnan(figure.score):
            scores.append("n/a")
            continue
        ends = figure.interval
        shown = f" [{ends[0]:.{places}f}, {ends[1]:.{places}f}]" if ends else ""
        scores.append(f"{figure.score:.{places}f}{shown}")
    scores += ["n/a"] * (len(view.titles) - len(scores))
    return (
        "–" if line.rank is None else str(line.rank),
        *(shown_range if ranges else ()),
        name_of(sight, line.contender).title,
        *scores,
    )
