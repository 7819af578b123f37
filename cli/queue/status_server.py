"""`steelyard --server URL status`: progress of one's own submissions; of all in a campaign for its organisers."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from cli.errors import Away
from cli.queue.status_watch import WATCH_SECONDS
from cli.server import connected, refuse_local
from steelyard.commands.errors import CommandError
from steelyard.tables.formatting import duration
from steelyard.tables.text import aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import RenderableType

    from cli.commands import Options
    from steelyard_client import Client
    from steelyard_client.documents.submissions import MeasuredEvaluation, SubmissionResponse

MOST = 50
"""Newest submissions of each campaign that are shown; --failed reads all."""

REQUESTS_A_SECOND = 2.0
"""Rate of a watching command: a fifth of a server's default limit for an account."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The status of submissions on a server, as `cli.queue.status_output.Status` of a database."""

    submissions: Sequence[SubmissionResponse]
    failures_only: bool

    @property
    def open(self) -> int:
        """The number of open submissions."""
        return sum(not each.progress.ended for each in self.submissions)

    def text(self) -> str:
        """One line for each submission."""
        return as_text(self.submissions, failed=self.failures_only)

    def sections(self) -> list[RenderableType]:
        """The same for a live view."""
        return [self.text()]

    def json(self, *, indent: int | None = None) -> str:
        """One object, ended by a newline; docs/how-to/client.md describes it."""
        every = [(each, evaluation) for each in self.submissions for evaluation in each.evaluations]
        found = {
            "evaluations": Counter(evaluation.state for _, evaluation in every),
            "failures": [_failure(*each) for each in every if each[1].state == "failed"],
            "submissions": [each.model_dump(mode="json") for each in self.submissions],
        }
        return json.dumps(found, indent=indent, ensure_ascii=False, allow_nan=False) + "\n"


def run(options: Options) -> int:
    """Print the status once, or repeatedly with --watch; the exit status."""
    refuse_local(options, evaluation=())
    every = options.watch or (WATCH_SECONDS if options.until_done else None)
    with connected(options) as client:
        look, requests = looking(client, options)
        if every is not None:
            from cli.queue.status_watch import watch

            every = max(every, requests / REQUESTS_A_SECOND)
            return watch(look, every, until_done=options.until_done, as_lines=options.format == "json")
        status = look()
    sys.stdout.write(status.json(indent=1) if options.format == "json" else status.text())
    return 0


def looking(client: Client, options: Options) -> tuple[Callable[[], ServerStatus], int]:
    """A function that reads the selected submissions, the newest first, and the number of requests it makes.

    Raises CommandError for an unknown campaign. The function raises Away while the server does not answer.
    """
    from steelyard_client import ServerUnreachable, TooMany, Unavailable

    client.me()
    names = [campaign.name for campaign in client.list_campaigns()]
    if options.name is not None and options.name not in names:
        raise CommandError(f'There is no campaign "{options.name}". There are: {", ".join(names) or "none"}.')
    meant = names if options.name is None else [options.name]

    def look() -> ServerStatus:
        found: list[SubmissionResponse] = []
        try:
            for name in meant:
                submissions = client.list_campaign_submissions(name)
                found += submissions if options.failed else islice(submissions, MOST)
        except (ServerUnreachable, TooMany, Unavailable) as error:
            raise Away(str(error)) from error
        if options.failed:
            found = [each for each in found if each.progress.state == "failed"]
        return ServerStatus(found, options.failed)

    return look, len(meant)


def _failure(submission: SubmissionResponse, evaluation: MeasuredEvaluation) -> dict[str, Any]:
    """As the status of a database has it."""
    test_set, _, _ = submission.test_set.rpartition("@")
    return {
        "evaluation": evaluation.id,
        "state": evaluation.state,
        "campaign": submission.campaign,
        "test_set": test_set,
        "references": list(evaluation.references),
        "team": submission.team,
        "system": submission.system,
        "run": submission.run,
        "reason": evaluation.reason,
    }


def as_text(submissions: Sequence[SubmissionResponse], *, failed: bool) -> str:
    """One line for each."""
    if not submissions:
        return "No submission has failed.\n" if failed else "There are no submissions of yours.\n"
    table = [["Submission", "Campaign", "System", "Test set", "State", "Segments", "Before it", "Time left", ""]]
    for each in submissions:
        progress = each.progress
        reasons = dict.fromkeys(evaluation.reason for evaluation in each.evaluations if evaluation.reason)
        remarks = [each.kind, "withdrawn" if each.withdrawn_at else "", *map(str, reasons)]
        table.append(
            [
                str(each.id),
                each.campaign,
                f"{each.team}/{each.system}" + (f" (run {each.run})" if each.run else ""),
                each.test_set.removesuffix("@1"),
                progress.state,
                f"{progress.segments_done} of {progress.segments}",
                "" if progress.ahead is None else str(progress.ahead),
                "" if progress.seconds_left is None else duration(progress.seconds_left),
                "; ".join(remark for remark in remarks if remark),
            ]
        )
    return aligned(table)
