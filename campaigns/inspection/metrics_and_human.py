"""The metrics of a leaderboard against human judgments, and against each other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from markupsafe import Markup
from sqlalchemy import Engine

from analysis.leaderboard.board import Board
from analysis.meta_evaluation.human import Annotation, read_annotation
from analysis.meta_evaluation.metrics_and_human import BoardCorrelation, JudgedBoard, read_judged
from campaigns.background import BackgroundCache
from campaigns.errors import Forbidden, NotFound, NotSignedIn
from campaigns.inspection.correlations import CorrelationQuery, correlate, metric_position
from campaigns.inspection.visible import VisibleTestSet, find_test_set, visible_test_sets
from campaigns.leaderboards.view import Boards
from campaigns.permissions import CampaignAccess
from campaigns.reports.leaderboard import MARGIN, WIDTH, Cell
from campaigns.reports.scatters import scatters_body
from models.corpus.judgments import StoredJudgments, find_judgments, list_judgments
from models.database.session import reading
from models.results.boards import BoardSummary, list_boards
from models.results.equal_outputs import Equals, read_equals
from models.results.leaderboard import LeaderboardRow
from steelyard.tables.formatting import TYPESET

PLACES = 3
USUAL = CorrelationQuery()
MAX_LEFT_OUT = 1000
"""Systems that may be left out at once."""


@dataclass(frozen=True, eq=False)
class MetricsView:
    """The metrics of a campaign on one test set, and the judgments to compare them with."""

    test_sets: Sequence[VisibleTestSet]
    test_set: VisibleTestSet
    boards: Sequence[BoardSummary]
    """The leaderboards of the test set, the one with the most references first."""
    board: Board | None
    """None if nothing has scores yet."""
    judgments: Sequence[StoredJudgments]
    """The newest version of each."""
    chosen: StoredJudgments | None
    judged: JudgedBoard | None
    """None without judgments of systems that have scores."""
    systems: Sequence[LeaderboardRow] = ()
    """Those of the leaderboard, including left-out ones."""
    equals: Mapping[int, Equals] = field(default_factory=dict)
    """Submission -> what its output is identical to; for organisers only."""

    @cached_property
    def left_out(self) -> frozenset[int]:
        """The first submissions of the left-out systems."""
        kept = {row.evaluations for row in self.board.rows} if self.board else set()
        return frozenset(row.submissions[0] for row in self.systems if row.evaluations not in kept)


@dataclass(frozen=True, slots=True)
class Described:
    """What is known of the annotators of judgments."""

    annotation: Annotation | None
    """None where only scores are stored."""


class MetricsCache(BackgroundCache):
    """Correlations of metrics with human judgments and with each other, computed once."""

    def __init__(self) -> None:
        super().__init__("comparing-metrics")

    def tables(
        self, judged: JudgedBoard, patience: float | None = None, query: CorrelationQuery = USUAL
    ) -> list[BoardCorrelation] | None:
        """Return tables by system and by segment, as far as there are judgments of either.

        None if they are not ready in `patience` seconds. Raises as `correlate`.
        """
        metrics = tuple(metric.specification for metric in judged.metrics)
        key = ("tables", *_content(judged.board), _identity(judged.human.stored), metrics, query)
        return self.get(key, partial(correlate, judged, query), patience)

    def annotation(self, engine: Engine, stored: StoredJudgments, patience: float | None = None) -> Described | None:
        """Return what annotators did; None if it is not ready in `patience` seconds."""

        def make() -> Described:
            with reading(engine) as connection:
                return Described(read_annotation(connection, stored))

        return self.get(("annotation", *_identity(stored)), make, patience)

    def scatters(
        self, board: Board, judged: JudgedBoard | None, names: Sequence[str], patience: float | None = None
    ) -> Markup | None:
        """Return charts of metrics against each other, and against human scores of systems if there are any."""
        key = ("scatters", *_content(board), _identity(judged.human.stored) if judged else None, tuple(names))
        return self.get(key, partial(_scatters, board, judged, names), patience)


def read_metrics(
    boards: Boards,
    access: CampaignAccess,
    test_set: str = "",
    references: str = "",
    human: str = "",
    without: Collection[int] = (),
    *,
    board_number: int | None = None,
    metrics: Sequence[str] = (),
) -> MetricsView:
    """Read what to show, without the systems of the submissions in `without`; unknown ones are ignored.

    By default it is the newest leaderboard against these references, with all metrics.

    Raises
    ------
    NotFound
        If it does not exist or is not visible.
    Forbidden
        If the leaderboard is not visible.
    NotSignedIn
        If somebody without an account leaves systems out: every selection is a new computation.
    """
    if without and not access.principal.signed_in:
        raise NotSignedIn
    if not access.sees_board:
        raise Forbidden("Scores of all systems are hidden in this phase, and so is the comparison of metrics.")
    with reading(boards.engine) as connection:
        test_sets = visible_test_sets(connection, access)
        chosen = find_test_set(test_sets, test_set)
        listed = [
            each
            for each in list_boards(connection, campaign_id=access.campaign_id)
            if (each.test_set, each.version) == (chosen.name, chosen.version)
        ]
        newest = _newest(listed)
        labels = sorted(each for each in references.split(",") if each)
        fitting = [each for each in newest if not labels or sorted(each.references) == labels]
        if board_number is not None:
            fitting = [each for each in listed if each.protocol_id == board_number]
            if not fitting:
                raise NotFound(f"There is no leaderboard {board_number} of the test set {chosen.title}.")
        if newest and not fitting:
            raise NotFound(f"There are no scores against {'+'.join(labels)[:200]} here.")
        board = boards.whole(connection, fitting[0]) if fitting else None
        if board and not access.sees_names:
            # Ties are in the order of names, which would reveal anonymous teams.
            board = replace(board, rows=sorted(board.rows, key=lambda row: row.submissions), ranking=None)
        systems = board.rows if board else ()
        submissions = [submission for row in systems for submission in row.submissions]
        equals = read_equals(connection, submissions) if access.organises else {}
        if board and without:
            board = _leaving_out(board, without)
        stored = {each.name: each for each in reversed(list_judgments(connection, access.campaign_id, chosen.id))}
        if human:
            wanted: StoredJudgments | None = find_judgments(connection, access.campaign_id, chosen.id, human)
        else:
            wanted = default_judgments(list_judgments(connection, access.campaign_id, chosen.id))
        positions = None
        if board and metrics:
            there = list(board.listed.metrics)
            positions = list(dict.fromkeys(metric_position(there, each) for each in metrics))
        judged = read_judged(connection, board, wanted.title, positions) if wanted and board else None
    return MetricsView(
        test_sets=test_sets,
        test_set=chosen,
        boards=newest,
        board=board,
        judgments=sorted(stored.values(), key=lambda each: each.name),
        chosen=wanted,
        judged=judged if judged and judged.systems else None,
        systems=systems,
        equals=equals,
    )


def default_judgments(known: Sequence[StoredJudgments]) -> StoredJudgments | None:
    """Those of a test set's judgments that are compared with unless others are asked for; None without any."""
    stored = {each.name: each for each in reversed(known)}
    return next(reversed(stored.values()), None)


def _leaving_out(board: Board, without: Collection[int]) -> Board:
    gone = {place for place, row in enumerate(board.rows) if set(row.submissions) & set(without)}
    names = tuple(sorted(board.name(board.rows[place]) for place in gone))
    return replace(board.only([place for place in range(len(board.rows)) if place not in gone]), without=names)


def shown_names(access: CampaignAccess, rows: Sequence[LeaderboardRow]) -> list[str]:
    """Return unique display names for the systems of a leaderboard, without the team where they tell these apart."""
    alone = Counter(access.system_name_of(row.team, row.system) for row in rows)
    found: dict[str, None] = {}
    for row in rows:
        system = access.system_name_of(row.team, row.system)
        parts = [access.name_of(row.team) if row.team else "", system]
        name = system if system and alone[system] == 1 else "/".join(part for part in parts if part)
        found[name if name not in found else f"{name} ({row.submissions[0]})"] = None
    return list(found)


@dataclass(frozen=True)
class Statistic:
    """A column of a table: one statistic of all metrics."""

    title: str
    source: str
    cells: Sequence[Cell] = field(default_factory=tuple)
    axis: tuple[str, str] | None = None


def columns(table: BoardCorrelation) -> list[Statistic]:
    """Return the statistics of a table with their intervals drawn, each column with its own axis."""
    return [
        _column(table, number, statistic.title, statistic.source) for number, statistic in enumerate(table.statistics)
    ]


def _column(table: BoardCorrelation, position: int, title: str, source: str) -> Statistic:
    agreements = [row.agreements[position] for row in table.rows]
    ends = [end for each in agreements if each.interval for end in (*each.interval, each.value)]
    least, most = min(ends, default=0.0), max(ends, default=0.0)
    step = (WIDTH - 2 * MARGIN) / ((most - least) or 1.0)
    cells = []
    for each in agreements:
        value = TYPESET.number(None if math.isnan(each.value) else each.value, PLACES)
        if each.interval is None:
            cells.append(Cell(value))
            continue
        low, high = each.interval
        at = tuple(MARGIN + step * (end - least) for end in (low, each.value, high))
        cells.append(Cell(value, TYPESET.number(low, PLACES), TYPESET.number(high, PLACES), (at[0], at[1], at[2])))
    return Statistic(title, source, cells, (TYPESET.number(least, 2), TYPESET.number(most, 2)) if ends else None)


def _newest(listed: Sequence[BoardSummary]) -> list[BoardSummary]:
    """Return the newest protocol for each list of references, the most references first."""
    last = {each.references: each for each in listed}
    return sorted(last.values(), key=lambda each: (-len(each.references), -each.protocol_id))


def _content(board: Board) -> tuple[object, ...]:
    done = tuple(row.evaluations for row in board.rows if row.scores)
    return board.listed.campaign_id, board.listed.protocol_id, done


def _identity(stored: StoredJudgments) -> tuple[object, ...]:
    """Return a key of stored judgments: SQLite may reuse the id of deleted ones."""
    return stored.id, stored.created_at


def _scatters(board: Board, judged: JudgedBoard | None, names: Sequence[str]) -> Markup:
    metrics = {title: board.scores(position).tolist() for position, title in enumerate(board.titles)}
    people = {}
    if judged and judged.has_systems:
        scores = dict(zip(judged.systems, judged.human_systems.tolist(), strict=True))
        of_rows = [scores.get(row.system, scores.get(board.name(row), math.nan)) for row in board.rows]
        people = {f"human scores ({judged.human.title})": of_rows}
    return scatters_body(names, metrics, people)
