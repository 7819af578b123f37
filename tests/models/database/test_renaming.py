"""Renames for migrations: everything that is named after a table or column goes with it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations

from models.database.renaming import rename, reversed_names
from models.database.session import make_engine
from models.schema.base import Base

TABLES = {"run": "night", "run_step": "stage", "note": "note"}
"""One name is the beginning of another, and one table keeps its own."""
COLUMNS = {"run_id": "night_id", "run_step_id": "stage_id"}


def create(connection: sa.Connection) -> None:
    tables = sa.MetaData(naming_convention=Base.metadata.naming_convention)

    def key() -> sa.Column[int]:
        return sa.Column("id", sa.Integer, primary_key=True)

    sa.Table(
        "run", tables, key(), sa.Column("runner", sa.String(9), index=True),
        sa.CheckConstraint("runner <> ''", name="runner"),
    )  # fmt: skip
    sa.Table(
        "run_step", tables, key(), sa.Column("run_id", sa.ForeignKey("run.id"), index=True),
        sa.Column("place", sa.Integer, unique=True),
    )  # fmt: skip
    sa.Table("note", tables, key(), sa.Column("run_step_id", sa.ForeignKey("run_step.id"), index=True))
    tables.create_all(connection)
    for statement in (
        "INSERT INTO run VALUES (1, 'a'), (2, 'b')",
        "INSERT INTO run_step VALUES (1, 2, 5), (2, 1, 6)",
        "INSERT INTO note VALUES (1, 2)",
    ):
        connection.exec_driver_sql(statement)


@pytest.fixture
def connection(empty_database_url: str) -> Iterator[sa.Connection]:
    engine = make_engine(empty_database_url, pooled=False)
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", lambda raw, _: raw.execute("PRAGMA foreign_keys = OFF"))
    with engine.begin() as connection:
        create(connection)
        with Operations.context(MigrationContext.configure(connection)):
            yield connection
    engine.dispose()


def shape(connection: sa.Connection) -> dict[str, Any]:
    """Of each table its columns, all names of what belongs to it, what it refers to, and its rows."""
    inspector = sa.inspect(connection)
    found: dict[str, Any] = {}
    for table in inspector.get_table_names():
        references = inspector.get_foreign_keys(table)
        names = {each["name"] for each in (*inspector.get_indexes(table), *references)}
        names |= {each["name"] for each in inspector.get_unique_constraints(table)}
        names |= {each["name"] for each in inspector.get_check_constraints(table)}
        names.add(inspector.get_pk_constraint(table)["name"])
        found[table] = (
            [each["name"] for each in inspector.get_columns(table)],
            sorted(str(name) for name in names),
            [(each["constrained_columns"], each["referred_table"]) for each in references],
            sorted(tuple(row) for row in connection.exec_driver_sql(f"SELECT * FROM {table}")),
        )
    found["sequences"] = sorted(inspector.get_sequence_names()) if connection.dialect.name == "postgresql" else []
    return found


def test_all_that_is_named_after_them_goes_with_them_and_comes_back(connection: sa.Connection) -> None:
    before = shape(connection)
    rename(TABLES, COLUMNS, {})
    after = shape(connection)
    assert after == {
        "night": (["id", "runner"], ["ck_night_runner", "ix_night_runner", "pk_night"], [], [(1, "a"), (2, "b")]),
        "stage": (
            ["id", "night_id", "place"],
            ["fk_stage_night_id_night", "ix_stage_night_id", "pk_stage", "uq_stage_place"],
            [(["night_id"], "night")],
            [(1, 2, 5), (2, 1, 6)],
        ),
        "note": (
            ["id", "stage_id"],
            ["fk_note_stage_id_stage", "ix_note_stage_id", "pk_note"],
            [(["stage_id"], "stage")],
            [(1, 2)],
        ),
        "sequences": before["sequences"] and ["night_id_seq", "note_id_seq", "stage_id_seq"],
    }
    rename(reversed_names(TABLES), reversed_names(COLUMNS), {})
    assert shape(connection) == before


def test_other_words_are_renamed_with_them(connection: sa.Connection) -> None:
    """Names of constraints that hold neither a table nor a column."""
    connection.exec_driver_sql("CREATE INDEX ix_run_old_word ON run (runner, id)")
    rename({"run": "night"}, {}, {"old_word": "word"})
    assert [name for name in shape(connection)["night"][1] if "word" in name] == ["ix_night_word"]
