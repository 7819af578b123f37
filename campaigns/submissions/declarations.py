"""Stores declarations of submissions. The caller holds the team's quota account in the campaign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from models.database.upsert import upsert
from models.schema.campaigns import Declaration, SubmissionFindings
from models.schema.roles import DeclaredKind


@dataclass(frozen=True, slots=True)
class DeclarationInput:
    """What a team declares about a submission; empty fields leave the declaration unchanged."""

    kind: DeclaredKind = DeclaredKind.UNDECLARED
    constrained: bool | None = None
    description: str = ""

    @property
    def values(self) -> dict[str, Any]:
        """The columns to write."""
        values: dict[str, Any] = {}
        if self.kind != DeclaredKind.UNDECLARED:
            values["kind"] = self.kind
        if self.constrained is not None:
            values["constrained"] = self.constrained
        if self.description:
            values["description"] = self.description
        return values


def store_declaration(
    connection: Connection,
    submission_id: int,
    declared: DeclarationInput,
    *,
    campaign_id: int,
    test_set_id: int,
    team: str,
    account_id: int | None,
    phase: str,
    late_seconds: float,
) -> dict[str, Any]:
    """Store the declaration of a submission, and return the columns that changed.

    For a submission that is declared already, only the given fields change, and its withdrawal is undone. Its time of
    submission stays, unless it was withdrawn: then it counts as submitted again. After the deadline the earlier
    declaration is final. A new primary makes the previous one contrastive.
    """
    before = connection.execute(select(Declaration).where(Declaration.submission_id == submission_id)).one_or_none()
    if before is not None and late_seconds and before.withdrawn_at is None:
        declared = DeclarationInput()
    changed = {
        name: value for name, value in declared.values.items() if before is None or getattr(before, name) != value
    }
    if before is not None and before.withdrawn_at is not None:
        changed |= {"withdrawn_at": None, "phase": phase, "late_seconds": max(late_seconds, before.late_seconds)}
        others = primary_of(connection, campaign_id, test_set_id, team)
        if before.kind == DeclaredKind.PRIMARY and declared.kind == DeclaredKind.UNDECLARED and others is not None:
            # It lost its place when it was withdrawn.
            changed["kind"] = DeclaredKind.CONTRASTIVE
    kind = changed.get("kind", before.kind if before is not None else declared.kind)
    if kind == DeclaredKind.PRIMARY and (changed or before is None):
        demote_primary(connection, campaign_id, test_set_id, team, but=submission_id)
    if before is None:
        row = {
            "submission_id": submission_id,
            "campaign_id": campaign_id,
            "test_set_id": test_set_id,
            "team": team,
            "account_id": account_id,
            "phase": phase,
            "late_seconds": late_seconds,
        }
        connection.execute(insert(Declaration).values(**row, **declared.values))
    elif changed:
        connection.execute(update(Declaration).where(Declaration.submission_id == submission_id).values(**changed))
    return changed


def primary_of(connection: Connection, campaign_id: int, test_set_id: int, team: str) -> int | None:
    """Return the team's primary submission on a test set that is not withdrawn; None if there is none."""
    return connection.scalar(
        select(Declaration.submission_id).where(
            Declaration.campaign_id == campaign_id,
            Declaration.test_set_id == test_set_id,
            Declaration.team == team,
            Declaration.kind == DeclaredKind.PRIMARY,
            Declaration.withdrawn_at.is_(None),
        )
    )


def demote_primary(connection: Connection, campaign_id: int, test_set_id: int, team: str, *, but: int) -> list[int]:
    """Make the team's primary submission on a test set contrastive; returns its id, or nothing."""
    return list(
        connection.scalars(
            update(Declaration)
            .where(
                Declaration.campaign_id == campaign_id,
                Declaration.test_set_id == test_set_id,
                Declaration.team == team,
                Declaration.kind == DeclaredKind.PRIMARY,
                Declaration.withdrawn_at.is_(None),
                Declaration.submission_id != but,
            )
            .values(kind=DeclaredKind.CONTRASTIVE)
            .returning(Declaration.submission_id)
        )
    )


def write_findings(connection: Connection, submission_id: int, findings: Sequence[Mapping[str, Any]]) -> None:
    """Store the findings of the checks of a submission."""
    row = {"submission_id": submission_id, "findings": [dict(each) for each in findings]}
    upsert(connection, SubmissionFindings, [row], ["findings"])
