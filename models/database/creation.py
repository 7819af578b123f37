"""The tables of a new database at once: to run all migrations one after the other takes longer than the work."""

from __future__ import annotations

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, String, Table, insert, inspect

from models.schema.base import Base
from models.schema.queue import Compatibility

OLDEST = "20261218"
"""What the migrations up to the newest say of the oldest programs that can work with these tables."""

_VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""Where the migration library keeps the revision."""


def create_tables(connection: Connection, revision: str) -> bool:
    """Give an empty SQLite database the tables of this release, as all migrations would have; False if it has tables.

    The order of columns differs where migrations have added some. PostgreSQL has more than tables: migrations know it.
    """
    if inspect(connection).get_table_names():
        return False
    Base.metadata.create_all(connection, checkfirst=False)
    _VERSION.create(connection)
    connection.execute(insert(_VERSION).values(version_num=revision))
    connection.execute(insert(Compatibility).values(id=1, oldest=OLDEST))
    return True
