"""Deletes submissions with their outputs, scores and findings.

A team withdraws its submissions, which hides them and leaves them in its quotas; organisers delete them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, exists, func, select

from campaigns.deletion.counts import Deletion, present
from campaigns.errors import NotFound
from campaigns.submissions.views import NOT_VISIBLE, find_submission_row, may_see
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.comparisons import end_comparisons_of
from models.results.deletion import delete_results
from models.schema.corpus import Reference, Submission, System, TestSet, Text
from models.schema.queue import Evaluation
from models.schema.results import Score

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from campaigns.accounts.principal import Principal

AT_ONCE = 500
"""Ids in a statement: databases limit its parameters."""
ENDED = "A system in it was deleted."
QUOTAS = "Deleted submissions do not count against quotas any more."


def count_submissions(connection: Connection, submissions: Sequence[int]) -> dict[str, int]:
    """Return what is deleted with these submissions: their number, and how many scores."""
    scores = sum(
        connection.scalar(
            select(func.count())
            .select_from(Score)
            .join(Evaluation, Evaluation.id == Score.evaluation_id)
            .where(Evaluation.submission_id.in_(some))
        )
        or 0
        for some in _parts(submissions)
    )
    return present({"submissions": len(submissions), "scores": scores})


def delete_submission(connection: Connection, principal: Principal, submission: int, *, dry_run: bool) -> Deletion:
    """Delete a submission, or with `dry_run` say what would be deleted. For organisers.

    Raises
    ------
    NotSignedIn
        If nobody is signed in.
    Forbidden
        For others than organisers of its campaign.
    NotFound
        If it does not exist or is not visible.
    """
    access, row = find_submission_row(connection, principal, submission)
    if not may_see(access, row.team):
        raise NotFound(NOT_VISIBLE.format(submission))
    access.require_organiser()
    name = f"{row.team}/{row.system}" if row.team else row.system
    found = Deletion(f"submission {submission} of {name}", count_submissions(connection, [submission]), [QUOTAS])
    if not dry_run:
        access.principal.audit(
            connection, "submission.delete", found.subject, campaign_id=access.campaign_id, **found.removed
        )
        delete_submissions(connection, [submission])
    return found


def delete_submissions(connection: Connection, submissions: Sequence[int]) -> None:
    """Delete submissions: evaluations with scores and tests, declarations, findings, and what nobody else has.

    Work that runs for them is discarded when it arrives.
    """
    for some in _parts(submissions):
        rows = connection.execute(
            select(Submission.id, Submission.text_id, Submission.system_id).where(Submission.id.in_(some))
        ).all()
        evaluations = list(connection.scalars(select(Evaluation.id).where(Evaluation.submission_id.in_(some))))
        # Comparisons are locked before evaluations.
        end_comparisons_of(connection, evaluations, ENDED)
        cancel_evaluations(connection, evaluations, ENDED)
        delete_results(connection, evaluations)
        connection.execute(delete(Evaluation).where(Evaluation.id.in_(evaluations)))
        connection.execute(delete(Submission).where(Submission.id.in_(some)))
        _delete_unused(connection, {row.text_id for row in rows}, {row.system_id for row in rows})


def _delete_unused(connection: Connection, texts: set[int], systems: set[int]) -> None:
    """Delete outputs and systems that no other submission has; a text may be a reference or a source, too."""
    connection.execute(
        delete(Text).where(
            Text.id.in_(texts),
            ~exists().where(Submission.text_id == Text.id),
            ~exists().where(Reference.text_id == Text.id),
            ~exists().where(TestSet.source_text_id == Text.id),
        )
    )
    connection.execute(delete(System).where(System.id.in_(systems), ~exists().where(Submission.system_id == System.id)))


def _parts(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    for begin in range(0, len(numbers), AT_ONCE):
        yield numbers[begin : begin + AT_ONCE]
