"""Outputs that are identical to a reference of their test set, or to another system's output.

A text is stored once, so equal texts have one id. The results reveal references: show them only to organisers while
references are hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, or_, select

from models.schema.campaigns import Declaration
from models.schema.corpus import Reference, Submission, System
from models.schema.declarative import aliased


@dataclass(frozen=True, slots=True)
class EqualOutput:
    """An identical output of another system."""

    submission: int
    team: str
    """"" for the organisers."""
    system: str

    @property
    def name(self) -> str:
        """The name for organisers."""
        return f"{self.system} of {self.team}" if self.team else self.system


@dataclass(frozen=True, slots=True)
class Equals:
    """The texts that an output is identical to."""

    references: tuple[str, ...] = ()
    """Labels."""
    outputs: tuple[EqualOutput, ...] = ()
    """Other systems of the campaign on the same test set, without withdrawn submissions."""


def read_equals(connection: Connection, submissions: Sequence[int]) -> dict[int, Equals]:
    """The texts that these submissions are identical to; submissions without any are left out."""
    labels = read_equal_references(connection, submissions)
    outputs: dict[int, dict[tuple[str, str], EqualOutput]] = {}
    for row in connection.execute(_OUTPUTS, {"submissions": list(submissions)}):
        found = EqualOutput(row.other, row.team, row.name)
        outputs.setdefault(row.id, {}).setdefault((row.team, row.name), found)
    return {
        each: Equals(labels.get(each, ()), tuple(outputs.get(each, {}).values()))
        for each in sorted({*labels, *outputs})
    }


def _outputs_statement() -> Any:
    other = aliased(Submission)
    other_system, own_system = aliased(System), aliased(System)
    return (
        select(Submission.id, other.id.label("other"), other_system.team, other_system.name)
        .join(
            other,
            (other.campaign_id == Submission.campaign_id)
            & (other.test_set_id == Submission.test_set_id)
            & (other.text_id == Submission.text_id),
        )
        .join(own_system, own_system.id == Submission.system_id)
        .join(other_system, other_system.id == other.system_id)
        .outerjoin(Declaration, Declaration.submission_id == other.id)
        .where(
            Submission.id.in_(bindparam("submissions", expanding=True)),
            or_(other_system.team != own_system.team, other_system.name != own_system.name),
            Declaration.withdrawn_at.is_(None),
        )
        .order_by(Submission.id, other.id)
    )


# Built once: building them takes as long as executing them.
_OUTPUTS = _outputs_statement()
_REFERENCES = (
    select(Submission.id, Reference.label)
    .join(Reference, (Reference.test_set_id == Submission.test_set_id) & (Reference.text_id == Submission.text_id))
    .where(Submission.id.in_(bindparam("submissions", expanding=True)))
    .order_by(Submission.id, Reference.position)
)


def read_equal_references(connection: Connection, submissions: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """Submission -> labels of identical references; submissions without any are left out."""
    labels: dict[int, tuple[str, ...]] = {}
    for row in connection.execute(_REFERENCES, {"submissions": list(submissions)}):
        labels[row.id] = (*labels.get(row.id, ()), row.label)
    return labels
