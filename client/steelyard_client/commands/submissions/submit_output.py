"""What `submit` shows: the receipt of a submission, and its scores with ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.tables.formatting import PLAIN, digits, duration
from steelyard.tables.rendering import render, render_document
from steelyard.tables.table import Column, Kind, Table
from steelyard.text.wording import number_of
from steelyard_client.commands.leaderboards.power import scale_of
from steelyard_client.documents.submissions.submissions import SubmissionWithScoresResponse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steelyard.tables.delimited import Cell
    from steelyard_client.documents.submissions.submissions import (
        FeedbackResponse,
        ScoreResponse,
        SubmissionCreatedResponse,
        SubmissionResponse,
        SubmissionsCreatedResponse,
    )

ONE_VERSION = "1"
"""The version of a test set without corrections, which is not shown."""
COLUMNS = (
    *("submission", "test_set", "references", "metric", "title", "signature", "score", "low", "high", "level"),
    *("rank", "ranked", "remark"),
)


def finding_lines(submission: SubmissionResponse) -> Iterator[str]:
    """What the checks found, a line each."""
    return (f"{each.severity}: {each.message}" for each in submission.findings)


def receipt_text(submission: SubmissionCreatedResponse, queue_class: str) -> str:
    """The receipt in lines: number of the submission, its evaluations, queue position and remaining quotas."""
    where = test_set_title(submission)
    if submission.campaign != where:
        where = f"{submission.campaign}: {where}"
    run = f", run {submission.run}" if submission.run else ""
    begin = "Stored as submission" if submission.stored else "Already submitted as submission"
    called = f"{submission.team}/{submission.system}" if submission.team else submission.system
    numbers = ", ".join(str(each.id) for each in submission.evaluations) or "none"
    plural = "" if len(submission.evaluations) == 1 else "s"
    lines = [
        f"{begin} {submission.id} ({called}{run}) for {where}, "
        f"{number_of(submission.segments, 'segment')}. Evaluation{plural}: {numbers}."
    ]
    if submission.queued:
        ahead = submission.progress.ahead
        before = f"{number_of(ahead, 'submission')} ahead of it" if ahead else "next in the queue"
        lines.append(f"Queued as {queue_class}, {before}.")
    if submission.late_seconds:
        lines.append(f"It came {duration(submission.late_seconds)} after the deadline, and is marked as late.")
    if limits := [each for each in submission.quotas if each.amount is not None]:
        shown = ", ".join(f"{each.used} of {each.amount} {each.of_what}" for each in limits)
        lines.append(f"Quota: {shown}.")
    return "\n".join(lines) + "\n"


def test_set_title(submission: SubmissionResponse) -> str:
    """The test set, with its version if it is not the first."""
    name, _, version = submission.test_set.rpartition("@")
    return name if version == ONE_VERSION else submission.test_set


def checked_table(checked: SubmissionsCreatedResponse) -> Table:
    """The outputs that would be stored, with what the checks found."""
    columns = [Column("test_set", "Test set", Kind.NAME, missing="(the only one)"), Column("file", "Output", Kind.NAME)]
    columns += [Column("findings", "Findings")]
    rows = [
        [each.test_set or None, each.file, " ".join(f"{one.severity}: {one.message}" for one in each.findings)]
        for each in checked.checked
    ]
    return Table(columns, rows, key="checked", empty="None of the outputs would be stored.")


def rendered(
    submissions: Sequence[SubmissionResponse], refused: Mapping[str, str] | None, form: str, width: int
) -> str:
    """The submissions in a format of tables: their scores, where they were waited for.

    `refused` has the files of a folder that were refused, with reasons; None for a single output.
    """
    scored = [each for each in submissions if isinstance(each, SubmissionWithScoresResponse)]
    waited = bool(scored) or not submissions
    if form == "text":
        tables = [_scores_table(each, width, titled=refused is not None) for each in scored]
        shown = render(tables, form) if tables else ""
        if refused is not None:
            shown += f"Submitted {len(submissions)} of {len(submissions) + len(refused)} outputs.\n"
        return shown
    if form != "json" and not waited:
        return render([_submissions_table(submissions)], form, "Submissions")
    return render_document(
        form,
        document=lambda: _document(submissions, refused),
        data=lambda: (COLUMNS, [row for each in scored for row in _rows(each)]),
        tables=lambda: [_scores_table(each, width, titled=True) for each in scored],
        title="Submissions",
    )


def _document(submissions: Sequence[SubmissionResponse], refused: Mapping[str, str] | None) -> Any:
    stored = [each.model_dump(mode="json") for each in submissions]
    if refused is None:
        return stored[0]
    return {"stored": stored, "refused": [{"file": file, "reason": reason} for file, reason in refused.items()]}


def _rows(submission: SubmissionWithScoresResponse) -> Iterator[list[Cell]]:
    """A row for each evaluation and metric, with all digits."""
    for feedback in submission.feedback:
        references = ",".join(feedback.references)
        for score in feedback.scores:
            yield [
                *(submission.id, submission.test_set, references, score.metric, score.title, score.signature),
                *(score.score, score.low, score.high, feedback.level, score.rank, score.ranked),
                _remark(submission, feedback),
            ]


def _submissions_table(submissions: Sequence[SubmissionResponse]) -> Table:
    columns = [
        Column("id", "Submission", Kind.ID),
        Column("test_set", "Test set", Kind.NAME),
        Column("team", "Team", missing="-"),
        Column("system", "System", Kind.NAME),
        Column("run", "Run", missing="-"),
        Column("evaluations", "Evaluations"),
        Column("state", "State"),
    ]
    rows = [
        [
            *(each.id, each.test_set, each.team or None, each.system, each.run or None),
            *(", ".join(str(evaluation.id) for evaluation in each.evaluations), str(each.progress.state)),
        ]
        for each in submissions
    ]
    return Table(columns, rows)


def _scores_table(submission: SubmissionWithScoresResponse, width: int, *, titled: bool) -> Table:
    """The scores with intervals, as far as the phase discloses them, and ranks where the leaderboard is shown."""
    ranks = any(score.ranked is not None for feedback in submission.feedback for score in feedback.scores)
    columns = [
        Column("references", "References", Kind.NAME),
        Column("metric", "Metric", Kind.NAME),
        Column("score", "Score", Kind.ESTIMATE, missing="n/a"),
        *([Column("rank", "Rank", missing="-")] if ranks else []),
        Column("remark", ""),
    ]
    rows = []
    for feedback in submission.feedback:
        labels, said = " + ".join(feedback.references), _remark(submission, feedback)
        for score in feedback.scores:
            rank = f"{score.rank} of {score.ranked}" if score.rank is not None else None
            title = score.title + ("" if score.higher_is_better else " ↓")
            rows.append([labels, title, _shown(score, width), *([rank] if ranks else []), said])
        if not feedback.scores:
            rows.append([labels, "", None, *([None] if ranks else []), said])
    return Table(columns, rows, test_set_title(submission) if titled else "", empty="Scores are hidden in this phase.")


def _remark(submission: SubmissionWithScoresResponse, feedback: FeedbackResponse) -> str:
    """Why there are no scores or ranks, or how the scores were rounded."""
    evaluation = next(each for each in submission.evaluations if each.id == feedback.evaluation)
    state = "" if evaluation.state == "done" else f"{evaluation.state}: {evaluation.reason}"
    return "; ".join(filter(None, (state, feedback.words, feedback.remark)))


def _shown(score: ScoreResponse, width: int) -> str | None:
    if not score.disclosed:
        return "hidden"
    places = digits(scale_of(score), width)
    ends = None if score.low is None or score.high is None else (score.low, score.high)
    if score.score is None:
        return PLAIN.interval(ends, places) or None
    return PLAIN.estimate(score.score, ends, places)
