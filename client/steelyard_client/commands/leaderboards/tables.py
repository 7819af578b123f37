"""Leaderboards in every format, from their documents, wherever those come from: a database or a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.tables.formatting import MISSING, PLAIN, digits, percentage
from steelyard.tables.rendering import render_document
from steelyard.tables.table import Column, Kind, Table
from steelyard.text.wording import number_of, of_documents, with_references
from steelyard_client.commands.leaderboards.power import power_tables, scale_of
from steelyard_client.commands.leaderboards.rows import COLUMNS, rows_of
from steelyard_client.vocabulary import RANKED
from steelyard_client.vocabulary import remark as remark_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard_client.documents.leaderboards.comparisons import ComparisonsResponse
    from steelyard_client.documents.leaderboards.human_rankings import HumanPlace
    from steelyard_client.documents.leaderboards.leaderboards import BoardScore, BoardSystem, LeaderboardResponse

CORRECTED = {"none": "not corrected", "holm": "Holm's correction", "bh": "Benjamini-Hochberg"}
KINDS = {"percentile": "", "bca": "BCa "}
HUMAN_SCALE = 100.0
"""As many digits are shown as of a metric of 0 to 100."""
HUMAN_COLUMNS = (
    Column("human_range", "By people", Kind.RANGE, missing="-"),
    Column("human", "Human", Kind.ESTIMATE, missing=MISSING),
)
STILL_TESTING = "Pairs are still being tested; ask again in a moment for rank ranges and clusters."


def rendered(boards: Sequence[LeaderboardResponse], form: str, width: int = 1) -> str:
    """Leaderboards in a format of tables."""
    return render_document(
        form,
        document=lambda: [as_object(board) for board in boards],
        data=lambda: (COLUMNS, [row for board in boards for row in rows_of(board)]),
        tables=lambda: [table for board in boards for table in (table_of(board, width), *power_tables(board, width))],
        title="Leaderboard",
    )


def as_object(board: LeaderboardResponse) -> dict[str, Any]:
    """The object for JSON: numbers at full precision, null where undefined; `submissions` has `submission`, too."""
    found = board.model_dump(mode="json", exclude={"items", "total", "next"})
    systems = [each.model_dump(mode="json", exclude={"submission"}) for each in board.items]
    for system in systems:
        # Runs and details are those of few metrics and systems.
        system["scores"] = [
            {name: value for name, value in score.items() if value or name not in ("runs", "details")}
            for score in system["scores"]
        ]
    return {**found, "systems": systems}


def title_of(board: LeaderboardResponse | ComparisonsResponse) -> str:
    """What was measured against what, as `analysis.leaderboard.board.Board.title` has it."""
    name = board.test_set if board.version == "1" else f"{board.test_set} (version {board.version})"
    name = name if board.campaign == board.test_set else f"{board.campaign}: {name}"
    return with_references(name, board.references)


def titles_of(board: LeaderboardResponse) -> list[str]:
    """The metrics' display names, with an arrow where lower is better."""
    for system in board.items:
        if system.scores:
            return [score.title + ("" if score.higher_is_better else " ↓") for score in system.scores]
    return list(board.metrics)


def shown(score: BoardScore, width: int) -> str:
    """Score and interval for people."""
    ends = (score.interval.low, score.interval.high) if score.interval else None
    return PLAIN.estimate(score.score, ends, digits(scale_of(score), width))


def remark(system: BoardSystem) -> str:
    """A remark beside the scores: same output, not ranked, late; for a system without scores its state."""
    if system.scores:
        reference = f"same as reference {system.same_as_reference}" if system.same_as_reference else ""
        late = system.late_seconds > 0
        said = remark_on(
            system.same_output_as or "", system.kind, ranked=system.ranked, late=late, origin=system.origin
        )
        return ", ".join(filter(None, (reference, said)))
    state = f"{system.state}: {system.reason}" if system.reason else system.state
    runs = len(system.submissions)
    return f"{system.runs_done} of {runs} runs done; {state}" if runs > 1 else state


def table_of(board: LeaderboardResponse, width: int = 1) -> Table:
    """The systems with a line between clusters; below them method and notes."""
    titles, position = titles_of(board), board.metrics.index(board.sorted_by)
    remarks = [remark(system) for system in board.items]
    ranking = [system.scores[position] if system.scores else None for system in board.items]
    places = [score if score and score.cluster is not None else None for score in ranking]
    ranges = any(places)
    columns = [Column("rank", "Rank", Kind.ID, missing="-")]
    columns += [Column("range", "Range", Kind.RANGE, missing="-")] if ranges else []
    columns.append(Column("system", "System", Kind.NAME))
    judged = any(system.human for system in board.items)
    columns += HUMAN_COLUMNS if judged else []
    columns += [Column(each, each, Kind.ESTIMATE, missing=MISSING) for each in titles]
    columns += [Column("remark", "Remark")] if any(remarks) else []
    rows: list[list[Any]] = []
    rules = set()
    for number, system in enumerate(board.items):
        rank, place = ranking[number], places[number]
        first: list[Any] = [(rank.rank or None) if rank else None]
        first += [(place.rank_low, place.rank_high) if place else None] if ranges else []
        scores: list[Any] = [shown(score, width) for score in system.scores] or [None] * len(titles)
        people = human_cells(system.human, width) if judged else []
        rows.append([*first, system.name, *people, *scores, *([remarks[number]] if any(remarks) else [])])
        below = places[number + 1] if number + 1 < len(places) else place
        if place and (below.cluster if below else None) != place.cluster:
            rules.add(number + 1)
    notes = [_method(board, titles[position]), *_ranking_notes(board, ranges=ranges)]
    if board.human and judged:
        notes.append(f"By people: their official rank range, by {board.human.rule} of {board.human.judgments}.")
    return Table(columns, rows, title_of(board), notes=[*notes, *board.notices], rules=frozenset(rules))


def human_cells(place: HumanPlace | None, width: int = 1) -> list[Any]:
    """Rank range and score by human judgments, for `HUMAN_COLUMNS`."""
    if place is None:
        return [None, None]
    ends = (place.interval.low, place.interval.high) if place.interval else None
    return [(place.rank_low, place.rank_high), PLAIN.estimate(place.score, ends, digits(HUMAN_SCALE, width))]


def _method(board: LeaderboardResponse, sorted_by: str) -> str:
    intervals = "no intervals"
    if board.replicates:
        intervals = f"{percentage(board.level)} {KINDS[board.interval]}intervals from {board.replicates:,} bootstrap "
        intervals += f"replicates{of_documents(board.resample)}, seed {board.seed}"
    return f"Sorted by {sorted_by}; {intervals}; ↓ lower is better."


def _ranking_notes(board: LeaderboardResponse, *, ranges: bool) -> list[str]:
    """Notes on unranked systems, and on how ranges and clusters were found or why there are none."""
    notes = []
    if board.not_ranked:
        are = f"{number_of(board.not_ranked, 'system')} {'is' if board.not_ranked == 1 else 'are'}"
        notes.append(f"{RANKED} {are} not ranked; --all shows every system.")
    ranking = board.ranking
    if ranges:
        kind = "trials" if ranking.test == "randomization" else "replicates"
        how = f"WMT's rule: paired {ranking.test} with {ranking.draws:,} {kind}{of_documents(board.resample)}, "
        how += f"p < {ranking.alpha:g}, "
        how += CORRECTED[ranking.correction]
        notes.append(f"Range: possible ranks according to the tests. A line separates clusters ({how}).")
    notes += [ranking.fault] if ranking.fault else []
    return notes + ([STILL_TESTING] if ranking.testing else [])
