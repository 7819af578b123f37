"""Creates the tables of a new database at once, which is faster than running all migrations."""

from __future__ import annotations

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, String, Table, insert, inspect

from models.schema.base import Base
from models.schema.queue import Compatibility

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
    if inspect(connection).get_table_names():
        return False
    Base.metadata.create_all(connection, checkfirst=False)
    _VERSION.create(connection)
    connection.execute(insert(_VERSION).values(version_num=revision))
    connection.execute(insert(Compatibility).values(id=1, oldest=OLDEST))
    return True
