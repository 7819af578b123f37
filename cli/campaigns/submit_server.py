"""`steelyard --server URL submit`: submit one system's output to a server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cli.campaigns.submit_text import Limit, SubmissionReceipt, receipt_text
from cli.server import connected, refuse_local
from steelyard.commands.errors import CommandError
from steelyard.commands.notices import tell
from steelyard.tables.formatting import digits
from steelyard.tables.text import aligned
from steelyard_client.commands.leaderboards.power import scale_of
from steelyard_client.operations.leaderboards import LEVEL

if TYPE_CHECKING:
    from cli.commands import Options
    from steelyard_client import Client
    from steelyard_client.documents.submissions.submissions import (
        ScoreResponse,
        SubmissionCreatedResponse,
        SubmissionWithScoresResponse,
    )

ONE_VERSION = "1"
"""The version of a test set without corrections, which is not shown."""


def run(options: Options) -> int:
    """Submit the output; with --wait print its scores; the exit status."""
    refuse_local(options, input_format=None, due=None, processes=None, queue_class="interactive", level=LEVEL)
    with connected(options) as client:
        sent = _sent(client, options)
        _tell(sent)
        if not options.wait:
            return 0
        if not sent.progress.ended:
            _watch(client, sent.id)
        submission = client.read_submission(sent.id)
    print(scores_as_text(submission, options.width), end="")
    for evaluation in submission.evaluations:
        if evaluation.state == "failed":
            print(f"steelyard: {evaluation.reason}", file=sys.stderr)
    cancelled = sum(evaluation.state == "cancelled" for evaluation in submission.evaluations)
    if cancelled:
        print(f"steelyard: {cancelled} evaluation(s) were cancelled.", file=sys.stderr)
    return 0 if all(evaluation.state == "done" for evaluation in submission.evaluations) else 1


def _sent(client: Client, options: Options) -> SubmissionCreatedResponse:
    from steelyard.formats.input.given_files import read_given

    if options.file == "-":
        output, name = sys.stdin.buffer.read(), "standard input"
    else:
        path = Path(options.file)
        output, name = read_given(path), path.name
    if not output:
        raise CommandError(f"{name}: is empty.")
    return client.submit_output(
        options.campaign,
        output,
        name=name,
        system=options.system,
        team=options.team or "",
        test_set=options.test_set or "",
        run=options.run_name,
        kind=options.declared,
        constrained=options.constrained,
        description=options.description,
        override=options.override,
        key=options.key,
    )


def _tell(submission: SubmissionCreatedResponse) -> None:
    """Print the receipt, as `submit` does with a database, and the findings."""
    name, _, version = submission.test_set.rpartition("@")
    tell(f"{each.severity}: {each.message}" for each in submission.findings)
    print(
        receipt_text(
            SubmissionReceipt(
                number=submission.id,
                stored=submission.stored,
                name=f"{submission.team}/{submission.system}",
                run=submission.run,
                campaign=submission.campaign,
                test_set=name if version == ONE_VERSION else submission.test_set,
                segments=submission.segments,
                evaluations=[each.id for each in submission.evaluations],
                queued_as="interactive" if submission.queued else "",
                ahead=submission.progress.ahead or 0,
                late_seconds=submission.late_seconds,
                limits=[
                    Limit(each.used, each.amount, each.of_what) for each in submission.quotas if each.amount is not None
                ],
            )
        ),
        end="",
        flush=True,
    )


def _watch(client: Client, number: int) -> None:
    """Show the progress until the submission has ended."""
    from cli.terminal.progress import shown_segments

    with shown_segments() as show:
        for progress in client.watch_submission(number):
            show(progress.segments_done, progress.segments)


def scores_as_text(submission: SubmissionWithScoresResponse, width: int) -> str:
    """The scores with intervals, as far as the phase gives feedback on them."""
    rows = [["References", "Metric", "Score", ""]]
    for evaluation in submission.feedback:
        labels = " + ".join(evaluation.references)
        for score in evaluation.scores:
            title = score.title + ("" if score.higher_is_better else " ↓")
            rows.append([labels, title, _shown(score, width), evaluation.words])
    if len(rows) == 1:
        return "Scores are hidden in this phase.\n"
    return aligned(rows)


def _shown(score: ScoreResponse, width: int) -> str:
    if not score.disclosed:
        return "hidden"
    places = digits(scale_of(score), width)
    number = "" if score.score is None else f"{score.score:.{places}f}"
    ends = "" if score.low is None or score.high is None else f"[{score.low:.{places}f}, {score.high:.{places}f}]"
    return f"{number} {ends}".strip() or "n/a"
