"""The receipt and the scores of a submission as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.leaderboard.board import read_board
from cli.campaigns import submit_text
from cli.campaigns.submit_text import Limit, SubmissionReceipt
from steelyard.tables.formatting import PLAIN, digits
from steelyard.tables.text import aligned
from steelyard_client.vocabulary import RANKED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from analysis.leaderboard.board import Board
    from campaigns.submissions.submit import SubmissionInput, SubmitResult
    from models.results.boards import BoardSummary
    from models.results.leaderboard import LeaderboardScore


def receipt_text(attempt: SubmissionInput, submitted: SubmitResult, ahead: int) -> str:
    """The receipt: number of the submission, its evaluations, queue position and remaining quotas."""
    measures = submitted.measures
    return submit_text.receipt_text(
        SubmissionReceipt(
            number=submitted.submission,
            stored=submitted.stored,
            name=f"{attempt.team}/{attempt.system}",
            run=attempt.run,
            campaign=measures.campaign,
            test_set=measures.test_set.title,
            segments=measures.test_set.segments,
            evaluations=submitted.evaluations,
            queued_as=attempt.queue_class.name.lower() if submitted.queued else "",
            ahead=ahead,
            late_seconds=submitted.late_seconds,
            limits=[Limit(each.used, each.amount, each.of_what) for each in submitted.usage if each.amount is not None],
        )
    )


def scores_as_text(
    connection: Connection, listed: Sequence[BoardSummary], submission: int, level: float, width: int
) -> str:
    """The submission's scores with intervals, and the rank of its system on each leaderboard."""
    rows = [["References", "Metric", "Score", "Rank", ""]]
    for each in listed:
        alone = read_board(connection, each, level, submissions=[submission])
        board = read_board(connection, each, level)
        # A board is None only where a metric to sort by is named.
        assert alone is not None
        assert board is not None
        labels = " + ".join(each.references)
        for row in alone.rows:
            if not row.scores:
                rows.append([labels, "", "n/a", "-", alone.remark(row)])
            for metric, score in enumerate(row.scores):
                rank, remark = _rank(board, submission, metric)
                shown = PLAIN.estimate(score.score, alone.interval(score), digits(score.scale, width))
                rows.append([labels, alone.titles[metric], shown, rank, remark])
    return aligned(rows)


def _rank(board: Board, submission: int, metric: int) -> tuple[str, str]:
    """The rank of a submission's system by a metric, and a remark."""
    scored = [row.scores[metric] for row in board.rows if row.scores]
    ranked = [score for score in scored if score.rank is not None]
    ours = next((row for row in board.rows if submission in row.submissions), None)
    if ours is None:
        return "-", "superseded on the leaderboard by a later submission of its system"
    if not ours.scores:
        return "-", board.remark(ours)
    if not ours.ranked:
        return "-", f"not ranked: {RANKED}"
    score: LeaderboardScore = ours.scores[metric]
    remark = f"the mean of {len(ours.runs)} runs has the rank" if len(ours.runs) > 1 else board.remark(ours)
    return (f"{score.rank} of {len(ranked)}" if score.rank is not None else "-"), remark
