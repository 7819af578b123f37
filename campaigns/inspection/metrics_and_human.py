"""Metrics of a campaign's leaderboard against people, and against each other."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from markupsafe import Markup
from sqlalchemy import Engine

from analysis.leaderboard.board import Board, read_board
from analysis.meta_evaluation.correlation import AgreementTable, Asked, agreement_of_segments, agreement_of_systems
from analysis.meta_evaluation.metrics_and_human import JudgedBoard, read_judged
from campaigns.background import Slow
from campaigns.errors import Forbidden, NotSignedIn, NotThere
from campaigns.inspection.visible import VisibleTestSet, find_test_set, visible_test_sets
from campaigns.permissions import Sight
from campaigns.reports.leaderboard import MARGIN, WIDTH, Cell
from campaigns.reports.numbers import number
from campaigns.reports.scatters import scatters_body
from metrics.correlation.statistics import DEFAULT_SEGMENT, DEFAULT_SYSTEM
from models.corpus.judgments import StoredJudgments, find_judgments, list_judgments
from models.database.session import reading
from models.results.boards import ListedBoard, list_boards
from models.results.equal_outputs import Equals, read_equals
from models.results.leaderboard import LeaderboardRow

LEVEL = 0.95
PLACES = 3
MOST_LEFT_OUT = 1000
"""Systems that may be left out at once."""


@dataclass(frozen=True, eq=False)
class SeenMetrics:
    """What is known of a campaign's metrics on one test set."""

    test_sets: Sequence[VisibleTestSet]
    test_set: VisibleTestSet
    boards: Sequence[ListedBoard]
    """Against which references there are scores, the most references first."""
    board: Board | None
    """None where nothing was measured yet."""
    judgments: Sequence[StoredJudgments]
    """The newest version of each."""
    chosen: StoredJudgments | None
    judged: JudgedBoard | None
    """None without judgments of systems that have scores."""
    systems: Sequence[LeaderboardRow] = ()
    """Those of the board, and those that are left out of it as somebody asked."""
    equals: Mapping[int, Equals] = field(default_factory=dict)
    """Submission -> what its output is equal to; for organisers alone."""

    @property
    def left_out(self) -> frozenset[int]:
        """The first submissions of the systems that are left out."""
        kept = {row.evaluations for row in self.board.rows} if self.board else set()
        return frozenset(row.submissions[0] for row in self.systems if row.evaluations not in kept)


class Memory(Slow):
    """How metrics compare with people and with each other, made once."""

    def __init__(self) -> None:
        super().__init__("comparing-metrics")

    def tables(self, judged: JudgedBoard, patience: float | None = None) -> list[AgreementTable] | None:
        """By system and by segment, as far as people judged either; None where it takes more seconds than that."""
        key = ("tables", *_content(judged.board), _identity(judged.human.stored))
        return self.get(key, partial(_compare, judged), patience)

    def scatters(
        self, board: Board, judged: JudgedBoard | None, names: Sequence[str], patience: float | None = None
    ) -> Markup | None:
        """Charts of metrics against each other, and against people where their scores of systems are known."""
        key = ("scatters", *_content(board), _identity(judged.human.stored) if judged else None, tuple(names))
        return self.get(key, partial(_scatters, board, judged, names), patience)


def read_metrics(
    engine: Engine,
    sight: Sight,
    test_set: str = "",
    references: str = "",
    human: str = "",
    without: Collection[int] = (),
) -> SeenMetrics:
    """What there is to show, without the systems of these submissions; those that are not there are passed over.

    Raises NotThere, Forbidden where the leaderboard is not to be seen, and NotSignedIn where somebody without an
    account leaves systems out: every choice is computed anew.
    """
    if without and not sight.principal.signed_in:
        raise NotSignedIn
    if not sight.sees_board:
        raise Forbidden("Scores of all systems are not shown in this phase, and so no comparison of metrics.")
    with reading(engine) as connection:
        test_sets = visible_test_sets(connection, sight)
        chosen = find_test_set(test_sets, test_set)
        listed = [
            each
            for each in list_boards(connection, campaign_id=sight.campaign_id)
            if (each.test_set, each.version) == (chosen.name, chosen.version)
        ]
        boards = _newest(listed)
        labels = sorted(each for each in references.split(",") if each)
        fitting = [each for each in boards if not labels or sorted(each.references) == labels]
        if boards and not fitting:
            raise NotThere(f"Nothing was measured against {'+'.join(labels)[:200]} here.")
        board = read_board(connection, fitting[0], LEVEL) if fitting else None
        if board and not sight.sees_names:
            # Equals stand in the order of their names, which would tell who anonymous teams are.
            board = replace(board, rows=sorted(board.rows, key=lambda row: row.submissions), ranking=None)
        systems = board.rows if board else ()
        submissions = [submission for row in systems for submission in row.submissions]
        equals = read_equals(connection, submissions) if sight.organises else {}
        if board and without:
            board = _leaving_out(board, without)
        stored = {each.name: each for each in reversed(list_judgments(connection, sight.campaign_id, chosen.id))}
        wanted = None
        if human:
            wanted = find_judgments(connection, sight.campaign_id, chosen.id, human)
        elif stored:
            wanted = next(iter(reversed(stored.values())))
        judged = read_judged(connection, board, wanted.title) if wanted and board else None
    return SeenMetrics(
        test_sets=test_sets,
        test_set=chosen,
        boards=boards,
        board=board,
        judgments=sorted(stored.values(), key=lambda each: each.name),
        chosen=wanted,
        judged=judged if judged and judged.systems else None,
        systems=systems,
        equals=equals,
    )


def _leaving_out(board: Board, without: Collection[int]) -> Board:
    gone = {place for place, row in enumerate(board.rows) if set(row.submissions) & set(without)}
    names = tuple(sorted(board.name(board.rows[place]) for place in gone))
    return replace(board.only([place for place in range(len(board.rows)) if place not in gone]), without=names)


def shown_names(sight: Sight, rows: Sequence[LeaderboardRow]) -> list[str]:
    """What the systems of a board are called before these eyes, no two alike."""
    found: list[str] = []
    for row in rows:
        parts = [sight.name_of(row.team) if row.team else "", sight.system_name_of(row.team, row.system)]
        name = "/".join(part for part in parts if part)
        found.append(name if name not in found else f"{name} ({row.submissions[0]})")
    return found


@dataclass(frozen=True)
class Statistic:
    """A column of a table: one statistic of all metrics."""

    title: str
    source: str
    cells: Sequence[Cell] = field(default_factory=tuple)
    axis: tuple[str, str] | None = None


def columns(table: AgreementTable) -> list[Statistic]:
    """The statistics of a table with their intervals drawn, each column with an axis of its own."""
    return [
        _column(table, number, statistic.title, statistic.source) for number, statistic in enumerate(table.statistics)
    ]


def _column(table: AgreementTable, position: int, title: str, source: str) -> Statistic:
    agreements = [row.agreements[position] for row in table.rows]
    ends = [end for each in agreements if each.interval for end in (*each.interval, each.value)]
    least, most = min(ends, default=0.0), max(ends, default=0.0)
    step = (WIDTH - 2 * MARGIN) / ((most - least) or 1.0)
    cells = []
    for each in agreements:
        value = number(None if math.isnan(each.value) else each.value, PLACES)
        if each.interval is None:
            cells.append(Cell(value))
            continue
        low, high = each.interval
        at = tuple(MARGIN + step * (end - least) for end in (low, each.value, high))
        cells.append(Cell(value, number(low, PLACES), number(high, PLACES), (at[0], at[1], at[2])))
    return Statistic(title, source, cells, (number(least, 2), number(most, 2)) if ends else None)


def _newest(listed: Sequence[ListedBoard]) -> list[ListedBoard]:
    """Of protocols against the same references the last one; the most references first."""
    last = {each.references: each for each in listed}
    return sorted(last.values(), key=lambda each: (-len(each.references), -each.protocol_id))


def _content(board: Board) -> tuple[object, ...]:
    done = tuple(row.evaluations for row in board.rows if row.scores)
    return board.listed.campaign_id, board.listed.protocol_id, done


def _identity(stored: StoredJudgments) -> tuple[object, ...]:
    """SQLite gives the number of what was deleted again."""
    return stored.id, stored.created_at


def _compare(judged: JudgedBoard) -> list[AgreementTable]:
    found = []
    asked = Asked(level=LEVEL)
    if judged.has_systems:
        found.append(agreement_of_systems(judged, DEFAULT_SYSTEM, asked))
    if judged.has_segments:
        found.append(agreement_of_segments(judged, DEFAULT_SEGMENT, asked))
    return found


def _scatters(board: Board, judged: JudgedBoard | None, names: Sequence[str]) -> Markup:
    metrics = {title: board.scores(position).tolist() for position, title in enumerate(board.titles)}
    people = {}
    if judged and judged.has_systems:
        scores = dict(zip(judged.systems, judged.human_systems.tolist(), strict=True))
        of_rows = [scores.get(row.system, scores.get(board.name(row), math.nan)) for row in board.rows]
        people = {f"people ({judged.human.title})": of_rows}
    return scatters_body(names, metrics, people)
