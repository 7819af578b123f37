"""Operations on submissions, their evaluations and their progress."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from steelyard_client.addresses import drop_none
from steelyard_client.documents.submissions.evaluations import (
    EvaluationCancel,
    EvaluationResponse,
    EvaluationsChangeResponse,
    EvaluationScoresResponse,
    EvaluationSelection,
    SelectedEvaluation,
)
from steelyard_client.documents.submissions.queue import QueueResponse
from steelyard_client.documents.submissions.submissions import (
    OutputCheckResponse,
    ProgressResponse,
    SubmissionCreatedResponse,
    SubmissionResponse,
    SubmissionsCreatedResponse,
    SubmissionWithScoresResponse,
)
from steelyard_client.documents.submissions.systems import (
    SystemResponse,
    SystemsImportedResponse,
    SystemWithScoresResponse,
)
from steelyard_client.errors import ServerUnreachable, TooMany, Unavailable
from steelyard_client.files import ProgressReader, compressed, read_file
from steelyard_client.reading import decode
from steelyard_client.requests import PAGE_ITEMS, Requests
from steelyard_client.steps import Item, Pause, Run, exhausted, forwarded, listing, operation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from steelyard_client.documents.campaigns.deletions import DeletionResponse
    from steelyard_client.documents.submissions.evaluations import EvaluationsCancel
    from steelyard_client.documents.submissions.submissions import SubmissionUpdate
    from steelyard_client.documents.submissions.systems import SystemsImport, SystemUpdate
    from steelyard_client.steps import Items, Steps
    from steelyard_client.vocabulary import SystemOrigin

POLL_SECONDS = 2.0
"""Polling interval where the server has no free stream."""
PROGRESS, END = "progress", "end"


class SubmissionOperations(Requests):
    """Submissions, evaluations, systems."""

    @operation
    def submit_output(
        self,
        campaign: str,
        output: Path | str | bytes,
        *,
        system: str,
        team: str = "",
        test_set: str = "",
        run: str = "",
        kind: str = "",
        constrained: bool | None = None,
        description: str = "",
        origin: SystemOrigin | None = None,
        override: bool = False,
        queue_class: str = "",
        due_at: datetime | None = None,
        input_format: str = "",
        part: str = "",
        key: str | None = None,
        name: str = "",
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Steps[SubmissionCreatedResponse]:
        """Submit a system's output; the submission with its findings and the state of the quotas.

        An interrupted request is retried with the same idempotency key, so that it takes effect once.

        Parameters
        ----------
        campaign
            Name of the campaign.
        output
            A path, or the content as bytes.
        system
            Name of the system.
        team, test_set
            Optional if the account has only one team, or the campaign only one test set.
        run
            Label of one of several runs of the system.
        kind, constrained, description
            The declaration, as in `update_submission`.
        origin
            For organisers: `baseline` or `online`, for a system of no team.
        override
            Submit as an organiser, regardless of the phases.
        queue_class, due_at
            How urgent it is: "interactive", "campaign" or "nightly", and when its scores are needed. For organisers.
        input_format, part
            The format of the file, which is detected by default, and the layer or zone of it that is the output.
        key
            An idempotency key, to make several calls take effect once.
        name
            File name to send instead of that of `output`.
        on_progress
            Called with the bytes sent and the total number of bytes.

        Raises
        ------
        BadInput
            The output cannot be scored; `details` has all findings, and nothing is stored.
        TooMany
            A quota is exhausted; nothing is stored.
        """
        fields = _form_fields(
            system=system, team=team, test_set=test_set, run=run, kind=kind, constrained=constrained,
            description=description, origin=origin, override=override or None, queue_class=queue_class,
            due_at=None if due_at is None else due_at.isoformat(), input_format=input_format, part=part,
        )  # fmt: skip
        title, content = compressed(*read_file(output, name))
        return self._change(
            SubmissionCreatedResponse, "POST", "campaigns", campaign, "submissions", key=key or str(uuid.uuid4()),
            data=fields, files={"file": (title, ProgressReader(content, on_progress))},
        )  # fmt: skip

    @operation
    def submit_outputs(
        self,
        campaign: str,
        outputs: Path | str | bytes,
        *,
        system: str,
        team: str = "",
        run: str = "",
        kind: str = "",
        constrained: bool | None = None,
        description: str = "",
        origin: SystemOrigin | None = None,
        override: bool = False,
        preview: bool = False,
        key: str | None = None,
    ) -> Steps[SubmissionsCreatedResponse]:
        """Submit a system's outputs for many language pairs; what was stored, and what was refused and why.

        `outputs` is a zip, as a path or as bytes, whose files are named after language pairs (`en-cs.txt`) or test
        sets, or the path of one file in JSON Lines for all pairs, as in WMT25 and WMT26; the rest is as in
        `submit_output`. With `preview` they are only checked, and nothing is stored. Raises BadInput if nothing could
        be stored.
        """
        fields = _form_fields(
            system=system, team=team, run=run, kind=kind, constrained=constrained, description=description,
            origin=origin, override=override or None,
        )  # fmt: skip
        return self._change(
            SubmissionsCreatedResponse, "POST", "campaigns", campaign, "outputs", key=key or str(uuid.uuid4()),
            params={"preview": "true"} if preview else None, data=fields,
            files={"file": read_file(outputs, "outputs.zip" if isinstance(outputs, bytes) else "")},
        )  # fmt: skip

    @operation
    def check_output(
        self,
        campaign: str,
        output: Path | str | bytes,
        *,
        system: str,
        team: str = "",
        test_set: str = "",
        run: str = "",
        origin: SystemOrigin | None = None,
        override: bool = False,
        input_format: str = "",
        part: str = "",
        name: str = "",
    ) -> Steps[OutputCheckResponse]:
        """Check an output without submitting it; arguments as of `submit_output`. Nothing is stored."""
        fields = _form_fields(
            system=system, team=team, test_set=test_set, run=run, origin=origin, override=override or None,
            input_format=input_format, part=part,
        )  # fmt: skip
        file = compressed(*read_file(output, name))
        return self._change(
            OutputCheckResponse, "POST", "campaigns", campaign, "checks", data=fields, files={"file": file}
        )

    @operation
    def read_submission(self, submission: int, *, level: float | None = None) -> Steps[SubmissionWithScoresResponse]:
        """A submission with its disclosed scores, and intervals of a `level` (default 0.95). Raises NotFound."""
        return self._get(SubmissionWithScoresResponse, "submissions", submission, level=level)

    @listing
    def list_campaign_submissions(
        self, campaign: str, *, team: str = "", test_set: str = "", kind: str = ""
    ) -> Items[SubmissionResponse]:
        """The submissions of the account's teams (organisers: of all), newest first, without scores.

        `kind` is primary, contrastive, late or withdrawn; "" for all.
        """
        return self._pages(
            SubmissionResponse, "campaigns", campaign, "submissions",
            team=team or None, test_set=test_set or None, kind=kind or None,
        )  # fmt: skip

    @operation
    def update_submission(self, submission: int, change: SubmissionUpdate) -> Steps[SubmissionResponse]:
        """Change the declaration of a submission; fields that are not set stay unchanged."""
        return self._change(SubmissionResponse, "PATCH", "submissions", submission, body=change)

    @operation
    def withdraw_submission(self, submission: int) -> Steps[SubmissionResponse]:
        """Withdraw a submission from all leaderboards."""
        return self._change(SubmissionResponse, "POST", "submissions", submission, "withdraw")

    @operation
    def delete_submission(self, submission: int, *, dry_run: bool = False) -> Steps[DeletionResponse]:
        """Delete a submission with its scores, or with `dry_run` ask what would be deleted. For organisers."""
        return self._delete("submissions", submission, dry_run=dry_run)

    @operation
    def reinstate_submission(self, submission: int) -> Steps[SubmissionResponse]:
        """Undo the withdrawal of a submission."""
        return self._change(SubmissionResponse, "POST", "submissions", submission, "reinstate")

    @operation
    def download_output(self, submission: int) -> Steps[bytes]:
        """The text of a submission, one segment per line."""
        return self._get_bytes("submissions", submission, "output")

    @listing
    def watch_submission(self, submission: int) -> Items[ProgressResponse]:
        """The progress of a submission, at each change, until it is done, failed or cancelled."""
        return self._watched(submission)

    @operation
    def wait_for_submission(self, submission: int) -> Steps[SubmissionWithScoresResponse]:
        """Wait until a submission is done, failed or cancelled, and return it."""
        yield from exhausted(self._watched(submission))
        return (yield from self._get(SubmissionWithScoresResponse, "submissions", submission))

    @listing
    def list_campaign_systems(self, name: str) -> Items[SystemResponse]:
        """The systems of the account's teams, and those of others where the leaderboard shows names."""
        return self._pages(SystemResponse, "campaigns", name, "systems")

    @operation
    def read_campaign_system(self, name: str, system: int) -> Steps[SystemWithScoresResponse]:
        """A system with what is said of it, and its scores where leaderboards are shown."""
        return self._get(SystemWithScoresResponse, "campaigns", name, "systems", system)

    @operation
    def update_campaign_system(self, name: str, system: int, change: SystemUpdate) -> Steps[SystemResponse]:
        """Change what is said of a system. For members of its team and for organisers."""
        return self._change(SystemResponse, "PATCH", "campaigns", name, "systems", system, body=change)

    @operation
    def import_campaign_systems(self, name: str, new: SystemsImport) -> Steps[SystemsImportedResponse]:
        """Store a table of descriptions of systems, such as systems.tsv of WMT25. For organisers."""
        return self._change(SystemsImportedResponse, "POST", "campaigns", name, "systems", body=new)

    @operation
    def cite_campaign_system(self, name: str, system: int) -> Steps[bytes]:
        """BibTeX for a system of a campaign."""
        return self._get_bytes("campaigns", name, "systems", system, "citation")

    @operation
    def read_evaluation(self, evaluation: int) -> Steps[EvaluationResponse]:
        """An evaluation of one of the account's teams; organisers can read all of their campaigns."""
        return self._get(EvaluationResponse, "evaluations", evaluation)

    @operation
    def cancel_evaluation(
        self, evaluation: int, *, reason: str = "", counts: bool = False
    ) -> Steps[EvaluationResponse]:
        """Cancel an evaluation that has not ended; `counts` leaves it in the team's quota. For organisers."""
        body = EvaluationCancel(reason=reason, counts=counts)
        return self._change(EvaluationResponse, "POST", "evaluations", evaluation, "cancel", body=body)

    @operation
    def retry_evaluation(self, evaluation: int) -> Steps[EvaluationResponse]:
        """Queue an evaluation again that failed, was cancelled or lacks a metric that failed. For organisers."""
        return self._change(EvaluationResponse, "POST", "evaluations", evaluation, "retry")

    @listing
    def list_evaluations(self, selection: EvaluationSelection) -> Items[SelectedEvaluation]:
        """The selected evaluations of the campaigns that the account organises, by their numbers."""
        numbers = selection.evaluations
        for begin in range(0, len(numbers) or 1, PAGE_ITEMS):
            yield from self._pages(
                SelectedEvaluation, "evaluations", evaluation=numbers[begin : begin + PAGE_ITEMS] or None,
                campaign=selection.campaign or None, system=selection.system or None, team=selection.team or None,
                state=[str(state) for state in selection.states] or None,
            )  # fmt: skip

    @operation
    def read_queue_status(
        self, *, campaign: str = "", evaluations: Sequence[int] = (), failures: int = 10
    ) -> Steps[QueueResponse]:
        """The queue, its workers, and the progress of campaigns, for organisers.

        `campaign` may also be the name of a test set; with it, or with numbers of `evaluations`, only these are
        counted. At most so many `failures` are in the answer.
        """
        asked = list(evaluations) or None
        return self._get(QueueResponse, "queue", name=campaign or None, evaluation=asked, failures=failures)

    @operation
    def read_evaluation_scores(self, evaluations: Sequence[int]) -> Steps[EvaluationScoresResponse]:
        """The stored scores of evaluations, to compare them bit by bit. For organisers."""
        found = EvaluationScoresResponse(scores=[])
        for begin in range(0, len(evaluations), PAGE_ITEMS):
            asked = list(evaluations[begin : begin + PAGE_ITEMS])
            page = yield from self._get(EvaluationScoresResponse, "evaluations", "scores", evaluation=asked)
            found.scores += page.scores
        return found

    @operation
    def cancel_evaluations(
        self, selection: EvaluationsCancel, *, dry_run: bool = False
    ) -> Steps[EvaluationsChangeResponse]:
        """Cancel the selected evaluations that have not ended, or with `dry_run` ask which. For organisers."""
        return self._change_evaluations("cancel", selection, dry_run)

    @operation
    def retry_evaluations(
        self, selection: EvaluationSelection, *, dry_run: bool = False
    ) -> Steps[EvaluationsChangeResponse]:
        """Queue failed and cancelled evaluations again, or with `dry_run` ask which. For organisers."""
        return self._change_evaluations("retry", selection, dry_run)

    @operation
    def recompute_evaluations(
        self, selection: EvaluationSelection, *, dry_run: bool = False
    ) -> Steps[EvaluationsChangeResponse]:
        """Compute evaluations again from their texts, or with `dry_run` ask which. For organisers."""
        return self._change_evaluations("recompute", selection, dry_run)

    def _change_evaluations(
        self, action: str, selection: EvaluationSelection, dry_run: bool
    ) -> Steps[EvaluationsChangeResponse]:
        params = {"dry_run": "true"} if dry_run else None
        return self._change(EvaluationsChangeResponse, "POST", "evaluations", action, body=selection, params=params)

    def _watched(self, submission: int) -> Items[ProgressResponse]:
        """By server-sent events, or by polling where no stream is free. Raises ServerUnreachable if retries fail."""
        last, failures = "", 0
        while True:
            try:
                headers = {"Last-Event-ID": last} if last else {}
                events = Run(self._events("submissions", submission, "events", headers=headers))
                while (step := events.advance()) is not None:
                    if not isinstance(step, Item):
                        yield from forwarded(step, events)
                        continue
                    last, failures = step.value.id, 0
                    if step.value.name in (PROGRESS, END):
                        progress = decode(ProgressResponse, step.value.data)
                        yield Item(progress)
                        if progress.ended:
                            return
                # The server ends a stream after a while, and when it restarts.
                failures += 1
                failure: Exception = ServerUnreachable(f"{self.server} keeps closing the stream of progress.")
            except ServerUnreachable as error:
                failures, failure = failures + 1, error
            except (TooMany, Unavailable):
                progress = (yield from self._get(SubmissionResponse, "submissions", submission)).progress
                yield Item(progress)
                if progress.ended:
                    return
                yield Pause(POLL_SECONDS)
                continue
            wait = self.patience.wait(failures, None)
            if wait is None:
                raise failure
            yield Pause(wait)


def _form_fields(**fields: Any) -> dict[str, str]:
    """The fields of a form, without empty ones."""
    words = {True: "true", False: "false"}
    filled = {name: value for name, value in drop_none(fields).items() if value != ""}
    return {name: words[value] if isinstance(value, bool) else str(value) for name, value in filled.items()}
