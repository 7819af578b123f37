"""What came of a submission, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.board import read_board
from cli.board import shown
from cli.columns import aligned
from cli.durations import duration
from metrics.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from analysis.board import Board
    from models.boards import ListedBoard
    from models.leaderboard import LeaderboardScore
    from scheduler.submitting import Attempt, Submitted


def told(attempt: Attempt, submitted: Submitted, ahead: int) -> str:
    """Where it is stored, by which numbers it is known, what waits before it and what is left of the quotas."""
    measures = submitted.measures
    title = measures.test_set.title
    where = title if measures.campaign == title else f"{measures.campaign}: {title}"
    run = f", run {attempt.run}" if attempt.run else ""
    begin = "Stored as submission" if submitted.stored else "This was handed in before: submission"
    numbers = ", ".join(map(str, submitted.evaluations)) or "none"
    plural = "" if len(submitted.evaluations) == 1 else "s"
    lines = [
        f"{begin} {submitted.submission} ({attempt.team}/{attempt.system}{run}) for {where}, "
        f"{number_of(measures.test_set.segments, 'segment')}. Evaluation{plural}: {numbers}."
    ]
    if submitted.queued:
        before = f"{number_of(ahead, 'submission')} before it" if ahead else "nothing before it"
        lines.append(f"Queued as {attempt.queue_class.name.lower()}, {before}.")
    if submitted.late_seconds:
        lines.append(f"It came {duration(submitted.late_seconds)} after the deadline, and is marked as late.")
    limits = [each for each in submitted.standings if each.amount is not None]
    if limits:
        lines.append("Quota: " + ", ".join(f"{each.used} of {each.amount} {each.of_what}" for each in limits) + ".")
    return "\n".join(lines) + "\n"


def scores_as_text(
    connection: Connection, listed: Sequence[ListedBoard], submission: int, level: float, width: int
) -> str:
    """The submission's scores with intervals, and the rank of its system on each leaderboard."""
    rows = [["References", "Metric", "Score", "Rank", ""]]
    for each in listed:
        alone = read_board(connection, each, level, submissions=[submission])
        board = read_board(connection, each, level)
        # Boards are lacking only where a metric to sort by is named.
        assert alone is not None
        assert board is not None
        labels = " + ".join(each.references)
        for row in alone.rows:
            if not row.scores:
                rows.append([labels, "", "n/a", "-", alone.remark(row)])
            for metric, score in enumerate(row.scores):
                rank, remark = _rank(board, submission, metric)
                rows.append([labels, alone.titles[metric], shown(alone, score, width), rank, remark])
    return aligned(rows)


def _rank(board: Board, submission: int, metric: int) -> tuple[str, str]:
    """The place of a submission's system by a metric, and what must be known of it."""
    scored = [row.scores[metric] for row in board.rows if row.scores]
    ranked = [score for score in scored if score.rank is not None]
    ours = next((row for row in board.rows if submission in row.submissions), None)
    if ours is None:
        return "-", "its system has handed in another one since, which stands on the leaderboard"
    if not ours.scores:
        return "-", board.remark(ours)
    score: LeaderboardScore = ours.scores[metric]
    remark = f"the mean of {len(ours.runs)} runs has the rank" if len(ours.runs) > 1 else board.remark(ours)
    return (f"{score.rank} of {len(ranked)}" if score.rank is not None else "-"), remark
