"""Progress of submissions, for those who do not organise: of their teams; of all in a campaign for its organisers."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from steelyard.commands.errors import CommandError
from steelyard.tables.formatting import duration
from steelyard.tables.text import aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import RenderableType

    from steelyard_client import Client
    from steelyard_client.documents.submissions.submissions import MeasuredEvaluation, SubmissionResponse

MOST = 50
"""Newest submissions of each campaign that are shown; --failed reads all."""


@dataclass(frozen=True, slots=True)
class SubmissionsStatus:
    """The status of submissions, as `Status` of a queue."""

    submissions: Sequence[SubmissionResponse]
    failures_only: bool

    @property
    def open(self) -> int:
        """The number of open submissions."""
        return sum(not each.progress.ended for each in self.submissions)

    def text(self) -> str:
        """One line for each submission."""
        return as_text(self.submissions, failed=self.failures_only)

    def show(self) -> None:
        """Print it."""
        sys.stdout.write(self.text())

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


def looking(client: Client, name: str, *, failed: bool) -> tuple[Callable[[], SubmissionsStatus], int]:
    """A function that reads the selected submissions, the newest first, and the number of requests it makes.

    Raises CommandError for an unknown campaign.
    """
    names = [campaign.name for campaign in client.list_campaigns()]
    if name and name not in names:
        raise CommandError(f'There is no campaign "{name}". There are: {", ".join(names) or "none"}.')
    meant = [name] if name else names

    def look() -> SubmissionsStatus:
        found: list[SubmissionResponse] = []
        for each in meant:
            submissions = client.list_campaign_submissions(each)
            found += submissions if failed else islice(submissions, MOST)
        if failed:
            found = [each for each in found if each.progress.state == "failed"]
        return SubmissionsStatus(found, failed)

    return look, len(meant)


def _failure(submission: SubmissionResponse, evaluation: MeasuredEvaluation) -> dict[str, Any]:
    """As the status of a queue has it."""
    test_set, _, _ = submission.test_set.rpartition("@")
    return {
        "id": evaluation.id,
        "submission": submission.id,
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
