"""Tables and columns of nightly runs and of corpus statistics are called by these names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

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
    _rename(TABLES, COLUMNS, NAMES)
    _rename_keys("nightly_run", BASELINE, CHANGE)
    # Older programs look for the tables by their names.
    op.execute("UPDATE compatibility SET oldest = '20261220'")


def downgrade() -> None:
    _rename(_reversed(TABLES), _reversed(COLUMNS), _reversed(NAMES))
    _rename_keys("night", _reversed(BASELINE), _reversed(CHANGE))
    op.execute("UPDATE compatibility SET oldest = '20261219'")


def _reversed(names: Mapping[str, str]) -> dict[str, str]:
    return {new: old for old, new in names.items()}


def _rename(tables: Mapping[str, str], columns: Mapping[str, str], names: Mapping[str, str]) -> None:
    """Rename tables, their columns, and all constraints, indexes and sequences that are named after them."""
    words = {**names, **columns, **tables}
    # The longest first: some are the beginning of others.
    one_of = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    known = re.compile(rf"(?<![A-Za-z0-9])({one_of})(?![A-Za-z0-9])")

    def renamed(text: str) -> str:
        return known.sub(lambda found: words[found[1]], text)

    rename = _rename_on_sqlite if op.get_bind().dialect.name == "sqlite" else _rename_on_postgresql
    rename(tables, columns, renamed)


def _rename_on_sqlite(tables: Mapping[str, str], _columns: Mapping[str, str], renamed: Callable[[str], str]) -> None:
    """SQLite cannot rename constraints: each table is created anew by its own definition, and filled."""
    connection = op.get_bind()
    definitions = sa.text(
        "SELECT type, name, sql FROM sqlite_master WHERE tbl_name = :table AND sql IS NOT NULL ORDER BY type DESC"
    )
    for old, new in tables.items():
        (_, _, definition), *indexes = connection.execute(definitions, {"table": old}).all()
        for _, name, _ in indexes:
            op.execute(f'DROP INDEX "{name}"')
        if renamed(definition) != definition:
            columns = renamed(definition).partition("(")[2]
            connection.exec_driver_sql(f"CREATE TABLE renamed ({columns}")
            op.execute(f"INSERT INTO renamed SELECT * FROM {old}")  # noqa: S608
            op.drop_table(old)
            op.rename_table("renamed", new)
        for _, _, index in indexes:
            connection.exec_driver_sql(renamed(index))


def _rename_on_postgresql(tables: Mapping[str, str], columns: Mapping[str, str], renamed: Callable[[str], str]) -> None:
    connection = op.get_bind()
    inspector = sa.inspect(connection)
    constraints = sa.text(
        "SELECT conname FROM pg_constraint WHERE conrelid = CAST(:table AS regclass) AND contype <> 'n'"
    )
    indexes = sa.text("SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND tablename = :table")
    for old, new in tables.items():
        for column in inspector.get_columns(old):
            if column["name"] in columns:
                op.alter_column(old, column["name"], new_column_name=columns[column["name"]])
        for name in connection.execute(constraints, {"table": old}).scalars().all():
            if renamed(name) != name:
                op.execute(f'ALTER TABLE {old} RENAME CONSTRAINT "{name}" TO "{renamed(name)}"')
        # Those of constraints have been renamed with them.
        for name in connection.execute(indexes, {"table": old}).scalars().all():
            if renamed(name) != name:
                op.execute(f'ALTER INDEX "{name}" RENAME TO "{renamed(name)}"')
        if old != new:
            op.execute(f"ALTER SEQUENCE IF EXISTS {old}_id_seq RENAME TO {new}_id_seq")
            op.rename_table(old, new)


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
