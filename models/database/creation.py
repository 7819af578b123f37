"""Creates the tables of a new database at once, which is faster than running all migrations.

    python -m models.database.creation

writes down the statements, which would otherwise be made at the start of every command that needs a new database; run
it after the tables have changed.
"""

from __future__ import annotations

import re
from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, String, Table, insert, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from models.schema.base import Base
from models.schema.queue import Compatibility

TABLES = Path(__file__).with_name("sqlite_tables.sql")
"""The statements that create them on SQLite, with an empty line between two."""

OLDEST = "20261228"
"""The oldest compatible revision according to the migrations up to the newest one."""

_VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""The table in which Alembic keeps the revision."""


def create_tables(connection: Connection, revision: str) -> bool:
    """Create this release's tables in an empty SQLite database, as all migrations would; False if it has tables.

    The order of columns differs where migrations have added some. PostgreSQL needs more than tables and always uses the
    migrations.
    """
    if connection.scalar(text("SELECT count(*) FROM sqlite_master")):
        return False
    driver = connection.connection.cursor()
    for statement in TABLES.read_text(encoding="utf-8").split("\n\n"):
        driver.execute(statement)
    connection.execute(insert(_VERSION).values(version_num=revision))
    connection.execute(insert(Compatibility).values(id=1, oldest=OLDEST))
    return True


def statements() -> str:
    """What `TABLES` must hold: the definitions of all tables and their indexes."""
    dialect = sqlite.dialect()
    made = []
    for table in (*Base.metadata.sorted_tables, _VERSION):
        made.append(str(CreateTable(table).compile(dialect=dialect)))
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        made += [str(CreateIndex(index).compile(dialect=dialect)) for index in indexes]
    return "\n\n".join(re.sub(r" *\n", "\n", each.strip()).replace("\t", "    ") for each in made) + "\n"


if __name__ == "__main__":
    TABLES.write_text(statements(), encoding="utf-8")
