"""Writing what teams say about their submissions. Whoever does it holds the team's account in the campaign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from models.database.upsert import insert_or_replace
from models.schema.campaigns import Declaration, Diagnosis
from models.schema.roles import DeclaredKind


@dataclass(frozen=True, slots=True)
class Said:
    """What a team says about a submission; what it says nothing of stays as it was."""

    kind: DeclaredKind = DeclaredKind.UNDECLARED
    constrained: bool | None = None
    description: str = ""

    @property
    def values(self) -> dict[str, Any]:
        """The columns of what is said."""
        values: dict[str, Any] = {}
        if self.kind != DeclaredKind.UNDECLARED:
            values["kind"] = self.kind
        if self.constrained is not None:
            values["constrained"] = self.constrained
        if self.description:
            values["description"] = self.description
        return values


def declare(
    connection: Connection,
    submission_id: int,
    said: Said,
    *,
    campaign_id: int,
    test_set_id: int,
    team: str,
    account_id: int | None,
    phase: str,
    late_seconds: float,
) -> dict[str, Any]:
    """Store what a team says about a submission that it has handed in; what has changed by it.

    What it says of one that is declared already changes only that, and takes back its withdrawal. When it was handed
    in stays what it was, but for one that was withdrawn: that is handed in anew. After the deadline what was said
    before stands. A new primary makes the one before it contrastive.
    """
    before = connection.execute(select(Declaration).where(Declaration.submission_id == submission_id)).one_or_none()
    if before is not None and late_seconds and before.withdrawn_at is None:
        said = Said()
    changed = {name: value for name, value in said.values.items() if before is None or getattr(before, name) != value}
    if before is not None and before.withdrawn_at is not None:
        changed |= {"withdrawn_at": None, "phase": phase, "late_seconds": max(late_seconds, before.late_seconds)}
        others = primary_of(connection, campaign_id, test_set_id, team)
        if before.kind == DeclaredKind.PRIMARY and said.kind == DeclaredKind.UNDECLARED and others is not None:
            # It gave its place up when it was withdrawn.
            changed["kind"] = DeclaredKind.CONTRASTIVE
    kind = changed.get("kind", before.kind if before is not None else said.kind)
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
        connection.execute(insert(Declaration).values(**row, **said.values))
    elif changed:
        connection.execute(update(Declaration).where(Declaration.submission_id == submission_id).values(**changed))
    return changed


def primary_of(connection: Connection, campaign_id: int, test_set_id: int, team: str) -> int | None:
    """The primary submission of a team on a test set that is not withdrawn; None where there is none."""
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
    """Make the primary submission of a team on a test set contrastive, to make room for another one; which it was."""
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
    """Store what was noticed about a submission."""
    row = {"submission_id": submission_id, "findings": [dict(each) for each in findings]}
    insert_or_replace(connection, Diagnosis, [row], ["findings"])
