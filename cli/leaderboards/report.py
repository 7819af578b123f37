"""The page of `steelyard compare --report`: the differences of systems and the segments behind them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.leaderboard.board import read_board
from analysis.leaderboard.more_replicates import with_enough_draws
from analysis.leaderboard.significance import ranked_by_bootstrap, ranking_of
from campaigns.reports.campaign import BoardTests, render_report
from campaigns.reports.leaderboard import CORRECTIONS
from models.results.boards import list_boards
from steelyard.ranking.tested_ranking import Ranking
from steelyard.resampling.draws_needed import smallest_p
from steelyard.resampling.paired import TITLES_OF_TESTS
from steelyard.text.wording import of_documents
from steelyard_client.vocabulary import compared_to_leaderboard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from analysis.leaderboard.board import Board
    from steelyard.tables.paired_tests import PairedTests
    from steelyard_client.commands.leaderboards.comparison import Compared

DRAWS = {"bootstrap": "replicates", "randomization": "trials"}


def report(connection: Connection, compared: Sequence[Compared], *, single: bool, by: str) -> str:
    """An HTML page with the tests that were made; `single` submissions are shown by themselves."""
    boards, tests, pairs = [], [], []
    for each in compared:
        board, made = _board(connection, each, single=single, by=by), each.tests
        boards.append(_ranked(connection, board, made))
        metrics = [score.metric for score in each.document.systems[0].scores]
        of_metric = {metric: made.of(number) for number, metric in enumerate(metrics)}
        tests.append(
            BoardTests(
                [of_metric.get(metric, []) for metric in board.listed.metrics],
                f"{TITLES_OF_TESTS[made.test]} with {made.draws:,} {DRAWS[made.test]}{of_documents(made.unit)}, "
                f"two-sided, {CORRECTIONS[made.correction]}",
                smallest_p(made.draws, max(map(len, of_metric.values()), default=0), made.correction),
                made.alpha,
                compared_to_leaderboard(made.test, made.correction),
            )
        )
        if made.baseline is not None:
            names = [board.name(row) for row in board.rows]
            pairs += [(names[made.baseline], name) for row, name in enumerate(names) if row != made.baseline]
    title = boards[0].title if len(boards) == 1 else "Comparison"
    return render_report(connection, boards, title=title, pairs=pairs or None, tests=tests)


def _board(connection: Connection, compared: Compared, *, single: bool, by: str) -> Board:
    """The compared systems in the order of the comparison."""
    document = compared.document
    listed = next(
        each for each in list_boards(connection, protocols=[compared.board]) if each.campaign == document.campaign
    )
    submissions = [each.submission for each in document.systems]
    board = read_board(
        connection, listed, compared.tests.level, by or None, interval_kind=compared.tests.interval,
        submissions=submissions if single else None,
    )  # fmt: skip
    # There is always a board for a metric that it has.
    assert board is not None
    row_of = {max(row.submissions): row for row in board.rows}
    return replace(board, rows=[row_of[each] for each in submissions], ranking=None)


def _ranked(connection: Connection, board: Board, made: PairedTests) -> Board:
    # A baseline's pairs alone are too few to rank by.
    if made.baseline is not None or len(made.metrics) < len(board.listed.metrics):
        return ranked_by_bootstrap(board, alpha=made.alpha)
    metrics = range(len(board.listed.metrics))
    if made.test == "bootstrap":
        contest = board.only(board.ranked_rows)
        more = with_enough_draws(connection, contest, metrics, made.correction, alpha=made.alpha).more_replicates
        return ranked_by_bootstrap(replace(board, more_replicates=more), alpha=made.alpha, correction=made.correction)
    place = {row: number for number, row in enumerate(board.ranked_rows)}
    pairs = [
        [
            replace(each, a=place[each.a], b=place[each.b])
            for each in made.of(metric)
            if each.a in place and each.b in place
        ]
        for metric in metrics
    ]
    return replace(
        board, ranking=ranking_of(board, pairs, Ranking("randomization", made.alpha, made.correction, made.draws))
    )
