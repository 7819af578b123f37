"""Tables and columns of nightly runs and of corpus statistics are called by these names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

from models.database.renaming import rename, reversed_names

revision = "20261220"
down_revision = "20261219"
branch_labels = None
depends_on = None

TABLES = {
    "night": "nightly_run",
    "night_step": "nightly_run_step",
    "night_evaluation": "nightly_run_evaluation",
    "prepared_state": "corpus_statistics",
    "protocol_state": "protocol_statistics",
    "preparation": "corpus_count",
    # Their own names stay; columns, constraints and indexes change.
    "delivery": "delivery",
    "shard": "shard",
}
"""Referred to before referring."""
COLUMNS = {"night_id": "nightly_run_id", "prepared_state_id": "corpus_statistics_id"}
NAMES = {"ix_shard_unprepared": "ix_shard_awaiting_statistics"}
"""Constraints and indexes whose names do not follow from those of tables and columns."""

BASELINE = {"night": "date"}
CHANGE = {"nights_before": "runs_before", "nights_after": "runs_after"}
"""Keys of stored JSON."""


def upgrade() -> None:
    rename(TABLES, COLUMNS, NAMES)
    _rename_keys("nightly_run", BASELINE, CHANGE)
    # Older programs look for the tables by their names.
    op.execute("UPDATE compatibility SET oldest = '20261220'")


def downgrade() -> None:
    rename(reversed_names(TABLES), reversed_names(COLUMNS), reversed_names(NAMES))
    _rename_keys("night", reversed_names(BASELINE), reversed_names(CHANGE))
    op.execute("UPDATE compatibility SET oldest = '20261219'")


def _rename_keys(runs: str, baseline: Mapping[str, str], change: Mapping[str, str]) -> None:
    """Rename keys of the baselines of schedules, and of the changes in the verdicts on their runs."""

    def with_names(document: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
        return {names.get(key, key): value for key, value in document.items()}

    def in_verdict(verdict: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(verdict.get("changes"), list):
            return verdict
        return {**verdict, "changes": [with_names(each, change) for each in verdict["changes"]]}

    _rewrite("schedule", "baseline", lambda stored: with_names(stored, baseline))
    _rewrite(runs, "verdict", in_verdict)


def _rewrite(table: str, column: str, rewritten: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    rows = sa.table(table, sa.column("id", sa.BigInteger), sa.column(column, sa.JSON(none_as_null=True)))
    connection = op.get_bind()
    for row in connection.execute(sa.select(rows.c.id, rows.c[column]).where(rows.c[column].is_not(None))).all():
        if isinstance(row[1], dict) and json.dumps(new := rewritten(row[1])) != json.dumps(row[1]):
            connection.execute(sa.update(rows).where(rows.c.id == row.id).values({column: new}))
