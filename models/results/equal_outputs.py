"""Outputs that are the very same text as a reference of their test set, or as the output of another system.

A text is stored once, so equal texts have one number. What is found here tells of references: it is for organisers
alone as long as those are hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, or_, select
from sqlalchemy.orm import aliased

from models.schema.campaigns import Declaration
from models.schema.corpus import Reference, Submission, System


@dataclass(frozen=True, slots=True)
class EqualOutput:
    """The same output, handed in by another system."""

    submission: int
    team: str
    """"" for the organisers."""
    system: str

    @property
    def name(self) -> str:
        """As organisers may read it."""
        return f"{self.system} of {self.team}" if self.team else self.system


@dataclass(frozen=True, slots=True)
class Equals:
    """What an output is equal to."""

    references: tuple[str, ...] = ()
    """Labels."""
    outputs: tuple[EqualOutput, ...] = ()
    """Of other systems of the campaign, on the same test set; not those that were withdrawn."""


def read_equals(connection: Connection, submissions: Sequence[int]) -> dict[int, Equals]:
    """What these submissions are equal to; those that are equal to nothing are not in it."""
    labels = read_equal_references(connection, submissions)
    other = aliased(Submission)
    theirs, mine = aliased(System), aliased(System)
    outputs: dict[int, dict[tuple[str, str], EqualOutput]] = {}
    for row in connection.execute(
        select(Submission.id, other.id.label("other"), theirs.team, theirs.name)
        .join(
            other,
            (other.campaign_id == Submission.campaign_id)
            & (other.test_set_id == Submission.test_set_id)
            & (other.text_id == Submission.text_id),
        )
        .join(mine, mine.id == Submission.system_id)
        .join(theirs, theirs.id == other.system_id)
        .outerjoin(Declaration, Declaration.submission_id == other.id)
        .where(
            Submission.id.in_(submissions),
            or_(theirs.team != mine.team, theirs.name != mine.name),
            Declaration.withdrawn_at.is_(None),
        )
        .order_by(Submission.id, other.id)
    ):
        found = EqualOutput(row.other, row.team, row.name)
        outputs.setdefault(row.id, {}).setdefault((row.team, row.name), found)
    return {
        each: Equals(labels.get(each, ()), tuple(outputs.get(each, {}).values()))
        for each in sorted({*labels, *outputs})
    }


def read_equal_references(connection: Connection, submissions: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """Submission -> labels of the references that are the very same text; without those that equal none."""
    labels: dict[int, tuple[str, ...]] = {}
    for row in connection.execute(
        select(Submission.id, Reference.label)
        .join(Reference, (Reference.test_set_id == Submission.test_set_id) & (Reference.text_id == Submission.text_id))
        .where(Submission.id.in_(submissions))
        .order_by(Submission.id, Reference.position)
    ):
        labels[row.id] = (*labels.get(row.id, ()), row.label)
    return labels
