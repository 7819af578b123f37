"""Reads the rows of one table of judgments, kind by kind; what is wrong with them is collected by its `Cells`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from steelyard.meta_evaluation.human.judgments import Judgment, SegmentScore, SystemScore
from steelyard.meta_evaluation.human.kinds import (
    ANNOTATOR,
    ERRORS,
    RANKING,
    RANKINGS,
    RATINGS,
    SCORE,
    SCORES,
    SYSTEM,
    is_of_hundred,
    required,
)
from steelyard.text.findings import quoted
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.meta_evaluation.human.cells import Cells, Places
    from steelyard.meta_evaluation.human.weights import Weights

JUDGED_ITEMS = "TGT"
"""Appraise's items that are translations; the others are there to find out how attentive annotators are."""

_RANK = re.compile(r"-1|[1-9]\d{0,3}", re.ASCII)
_WIDE = re.compile(r"system(\d{1,3})id", re.ASCII)
_LONGEST_LABEL = 200


def chosen_rows(cells: Cells, pair: str | None) -> Iterator[tuple[int, list[str]]]:
    """The rows of one language pair; of Appraise's export only judgments of translations, not of documents.

    Parameters
    ----------
    cells : Cells
    pair : str or None
        As the table spells it; None for all rows.

    Yields
    ------
    line : int
    row : list of str
    """
    table = cells.table
    source, target = table.column("srclang", "sourcelanguage"), table.column("trglang", "targetlanguage")
    item_type, of_document = table.column("itemtype"), table.column("isdocscore")
    for line, row in table.rows():
        if pair is not None and source is not None and target is not None and f"{row[source]}-{row[target]}" != pair:
            continue
        if item_type is not None and row[item_type] != JUDGED_ITEMS:
            continue
        if of_document is not None and row[of_document].casefold() == "true":
            continue
        yield line, row


def read_scores(
    cells: Cells, places: Places | None, pair: str | None
) -> tuple[list[tuple[int, SystemScore]], list[tuple[int, SegmentScore]]]:
    """Scores of systems or, where the rows say `places`, of segments.

    Parameters
    ----------
    cells : Cells
        Collects what is wrong, as in the other functions.
    places : Places or None
    pair : str or None
        The language pair to read.

    Returns
    -------
    systems : list of (int, SystemScore)
        Each with its line.
    segments : list of (int, SegmentScore)
    """
    table = cells.table
    at_system, at_score = required(table, SCORES, *SYSTEM), required(table, SCORES, *SCORE)
    at_raw, at_wins = table.column("raw"), table.column("wins")
    at_judgments, at_segments = table.column("njudgments", "judgments"), table.column("nsegments", "segments")
    systems, segments = [], []

    def count(row: Sequence[str], line: int, column: int | None, what: str) -> int | None:
        return None if column is None else cells.count(row[column], line, what)

    for line, row in chosen_rows(cells, pair):
        system = cells.name(row[at_system], line, "a system")
        score = cells.number(row[at_score], line, "score")
        raw = cells.number(row[at_raw], line, "raw score") if at_raw is not None and row[at_raw] else None
        judgments = count(row, line, at_judgments, "the number of judgments")
        if places is not None:
            segment = places.segment(row, line)
            if system is not None and score is not None and segment is not None:
                segments.append((line, SegmentScore(system, segment, score, raw, judgments)))
        elif system is not None and score is not None:
            judged = count(row, line, at_segments, "the number of segments")
            wins = count(row, line, at_wins, "the number of wins")
            systems.append((line, SystemScore(system, score, raw, judged, judgments, wins)))
    return systems, segments


def read_ratings(cells: Cells, places: Places, pair: str | None) -> list[Judgment]:
    """Ratings by annotators.

    Parameters
    ----------
    cells : Cells
    places : Places
    pair : str or None

    Returns
    -------
    list of Judgment
    """
    at_system, at_score = required(cells.table, RATINGS, *SYSTEM), required(cells.table, RATINGS, *SCORE)
    at_annotator = required(cells.table, RATINGS, *ANNOTATOR)
    of_hundred = is_of_hundred(cells.table)
    found: list[Judgment] = []
    lines: dict[tuple[str, str, int], int] = {}
    repeated = []
    for line, row in chosen_rows(cells, pair):
        annotator = cells.name(row[at_annotator], line, "an annotator")
        system = cells.name(row[at_system], line, "a system")
        segment = places.segment(row, line)
        value = cells.number(row[at_score], line, "score", of_hundred=of_hundred)
        if annotator is None or system is None or segment is None or value is None:
            continue
        if lines.setdefault((annotator, system, segment), line) != line:
            repeated.append(line)
        found.append(Judgment(annotator, system, segment, value))
    if repeated:
        cells.findings.notice(
            f"{number_of(len(repeated), 'rating')} of a segment that the same annotator has rated before "
            f"(first in line {repeated[0]}); all count."
        )
    return found


def read_errors(cells: Cells, places: Places, pair: str | None, weights: Weights) -> list[Judgment]:
    """Errors with their weights; a segment in which an annotator found none has one row that says so, and weighs 0.

    Parameters
    ----------
    cells : Cells
    places : Places
    pair : str or None
    weights : Weights

    Returns
    -------
    list of Judgment
    """
    at_system, at_annotator = required(cells.table, ERRORS, *SYSTEM), required(cells.table, ERRORS, *ANNOTATOR)
    at_category, at_severity = required(cells.table, ERRORS, "category"), required(cells.table, ERRORS, "severity")
    found = []
    for line, row in chosen_rows(cells, pair):
        annotator = cells.name(row[at_annotator], line, "an annotator")
        system = cells.name(row[at_system], line, "a system")
        segment = places.segment(row, line)
        severity, category = row[at_severity], row[at_category]
        weight = weights.of(severity, category)
        if weight is None:
            cells.findings.problem(
                f"nothing says what an error of severity {quoted(severity)} weighs. Say so: --weights "
                f"{quoted(severity.casefold() + '=5')}.",
                line,
            )
        elif annotator is not None and system is not None and segment is not None:
            label = f"{severity}/{category}"[:_LONGEST_LABEL]
            found.append(Judgment(annotator, system, segment, weight, label))
    return found


def read_rankings(cells: Cells, places: Places, pair: str | None) -> list[Judgment]:
    """Ranks; the label says which of the rankings of a segment by an annotator they belong to.

    Parameters
    ----------
    cells : Cells
    places : Places
    pair : str or None

    Returns
    -------
    list of Judgment
    """
    wide = sorted((int(match[1]), match[0]) for match in map(_WIDE.fullmatch, cells.table.columns) if match)
    rankings = _wide_rankings(cells, places, pair, [name for _, name in wide]) if wide else None
    if rankings is None:
        rankings = _long_rankings(cells, places, pair)
    found = []
    # Numbered by content, so that the order of the rows does not matter.
    by_cell: dict[tuple[str, int], list[list[tuple[str, int]]]] = {}
    for annotator, segment, ranks in rankings:
        by_cell.setdefault((annotator, segment), []).append(sorted(ranks))
    for (annotator, segment), of_cell in by_cell.items():
        for number, ranks in enumerate(sorted(of_cell), 1):
            found += [Judgment(annotator, system, segment, float(rank), str(number)) for system, rank in ranks]
    return found


def _wide_rankings(
    cells: Cells, places: Places, pair: str | None, systems: Sequence[str]
) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """WMT's form: a row is a ranking, with `systemNId` and `systemNrank` for each of its systems."""
    columns = cells.table.columns
    at_annotator = required(cells.table, RANKINGS, *ANNOTATOR)
    at_ranks = [(columns[name], required(cells.table, RANKINGS, name[:-2] + "rank")) for name in systems]
    found = []
    for line, row in chosen_rows(cells, pair):
        annotator = cells.name(row[at_annotator], line, "an annotator")
        segment = places.segment(row, line)
        ranks: dict[str, int] = {}
        for at_system, at_rank in at_ranks:
            if row[at_system]:
                _add_rank(cells, line, row[at_system], row[at_rank], ranks)
        if annotator is not None and segment is not None and ranks:
            found.append((annotator, segment, list(ranks.items())))
    return found


def _long_rankings(cells: Cells, places: Places, pair: str | None) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """A row for each system of a ranking."""
    table = cells.table
    at_annotator, at_system = required(table, RANKINGS, *ANNOTATOR), required(table, RANKINGS, *SYSTEM)
    at_ranking, at_rank = required(table, RANKINGS, *RANKING), required(table, RANKINGS, "rank")
    found: dict[tuple[str, int, str], dict[str, int]] = {}
    for line, row in chosen_rows(cells, pair):
        annotator = cells.name(row[at_annotator], line, "an annotator")
        segment = places.segment(row, line)
        if annotator is not None and segment is not None:
            ranks = found.setdefault((annotator, segment, row[at_ranking]), {})
            _add_rank(cells, line, row[at_system], row[at_rank], ranks)
    return [(annotator, segment, list(ranks.items())) for (annotator, segment, _), ranks in found.items() if ranks]


def _add_rank(cells: Cells, line: int, system: str, rank: str, ranks: dict[str, int]) -> None:
    if not _RANK.fullmatch(rank):
        cells.findings.problem(f"a rank is {quoted(rank)}. Give a whole number from 1, or -1 for none.", line)
        return
    named = cells.name(system, line, "a system")
    if named is not None and rank != "-1" and ranks.setdefault(named, int(rank)) != int(rank):
        cells.findings.problem(f"{quoted(system)} has two ranks in one ranking. Remove one of them.", line)
