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
    from collections.abc import Mapping

    from campaigns.leaderboards.documents import Beside
    from campaigns.leaderboards.view import BoardLine, BoardView
    from campaigns.permissions import CampaignAccess
    from steelyard_client.documents.leaderboards.human_rankings import HumanPlace

HUMAN_SCALE = 100.0
"""As many digits are shown as of a metric of 0 to 100."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def file_name(view: BoardView, ending: str) -> str:
    """Return a safe name for the file."""
    listed = view.listed
    parts = (_UNSAFE.sub("-", part).strip("-.")[:60] for part in (listed.campaign, listed.test_set, "leaderboard"))
    return "-".join(dict.fromkeys(part for part in parts if part)) + ending


def table_of(view: BoardView, access: CampaignAccess, beside: Beside) -> Table:
    """Return the board for people: a line between clusters, and how it was made as notes.

    Where people rank officially, their rank ranges and scores come before the metrics.
    """
    listed, ranges = view.listed, view.has_places
    columns = [Column("rank", "Rank", Kind.ID, missing="–")]
    columns += [Column("range", "Range", Kind.RANGE, missing="–")] if ranges else []
    columns.append(Column("system", "System", Kind.NAME))
    judged = any(line.entry.submission in beside.human_places for line in view.lines)
    if judged:
        columns.append(Column("human_range", "By people", Kind.RANGE, missing="–"))
        columns.append(Column("human", "Human", Kind.ESTIMATE, places=digits(HUMAN_SCALE), missing=MISSING))
    scored = next((line.entry.scores for line in view.lines if line.entry.scores), ())
    for title, score in zip_longest(view.titles, scored):
        places = digits(score.scale) if score else 1
        columns.append(Column(title, title, Kind.ESTIMATE, places=places, missing=MISSING))
    people = beside.human_places if judged else None
    rows = [_cells(view, access, line, people, ranges=ranges) for line in view.lines]
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
    if judged and beside.human:
        notes.append(f"By people: their official rank range, by {beside.human.rule} of {beside.human.judgments}.")
    return Table(columns, rows, caption, notes=[*notes, *view.signatures], rules=frozenset(rules))


def _cells(
    view: BoardView,
    access: CampaignAccess,
    line: BoardLine,
    people: Mapping[int, HumanPlace] | None,
    *,
    ranges: bool,
) -> list[Any]:
    place = line.place and (line.place.low, line.place.high)
    scores: list[Estimate | None] = [Estimate(score.score, score.interval) for score in line.entry.scores]
    scores += [None] * (len(view.titles) - len(scores))
    judged: list[Any] = []
    if people is not None:
        said = people.get(line.entry.submission)
        ends = (said.interval.low, said.interval.high) if said and said.interval else None
        judged = [said and (said.rank_low, said.rank_high), said and Estimate(said.score, ends)]
    return [line.rank, *([place] if ranges else []), display_name(access, line.entry).title, *judged, *scores]
