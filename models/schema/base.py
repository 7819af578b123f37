"""The base of all tables: metadata, constraint names, key types and the clock.

Every time in the database is read from the *database's* clock, in seconds since 1970 (float64, so to about 1e-7 s;
SQLite's clock itself ticks in milliseconds). The clocks of workers are never compared with each other.
"""

from __future__ import annotations

from typing import Annotated, Any

from sqlalchemy import BigInteger, ColumnElement, Connection, Double, Index, Integer, MetaData, TextClause
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateIndex
from sqlalchemy.sql.functions import FunctionElement

from models.schema.declarative import TableClass, mapped_column

BLOCK_SEGMENTS = 256
"""Consecutive segments in a block: fixed for ever, by position in the test set."""


class Base(TableClass):
    """The declarative base of every table."""

    # Later migrations find constraints by these names, on both databases.
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class PartialIndex(Index):
    """An index of the rows that meet a condition, on PostgreSQL and, with `on_sqlite`, on SQLite.

    An `Index` with `postgresql_where` imports all dialects of PostgreSQL as soon as it is declared, and so into every
    command, whatever its database.
    """

    def __init__(
        self,
        name: str,
        *columns: str,
        where: ColumnElement[bool] | TextClause,
        unique: bool = False,
        on_sqlite: bool = True,
    ) -> None:
        super().__init__(
            name, *columns, unique=unique, sqlite_where=where if on_sqlite else None, info={"where": where}
        )


@compiles(CreateIndex, "postgresql")
def _create_index_postgresql(element: CreateIndex, compiler: Any, **options: Any) -> str:
    text: str = compiler.visit_create_index(element, **options)
    where = element.element.info.get("where")
    if where is None:
        return text
    return f"{text} WHERE {compiler.sql_compiler.process(where, literal_binds=True, include_table=False)}"


class now(FunctionElement[float]):  # noqa: N801 - reads as the SQL function it is
    """The database's clock, in seconds since 1970; constant within a statement."""

    name = "now"
    type = Double()
    inherit_cache = True


@compiles(now, "sqlite")
def _now_sqlite(element: now, compiler: Any, **options: Any) -> str:  # noqa: ARG001
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(now, "postgresql")
def _now_postgresql(element: now, compiler: Any, **options: Any) -> str:  # noqa: ARG001
    # Not now(): a lease must not be counted from the start of a long transaction. Nor clock_timestamp(), which differs
    # for each row, so that no index could serve comparisons with it.
    return "CAST(extract(epoch FROM statement_timestamp()) AS double precision)"


def database_time(connection: Connection) -> float:
    """The time on the database's clock, in seconds since 1970."""
    return float(connection.execute(now().select()).scalar_one())


# SQLite generates keys only for its own INTEGER type.
BIG = BigInteger().with_variant(Integer, "sqlite")

Key = Annotated[int, mapped_column(BIG, primary_key=True)]
Seconds = Annotated[float, mapped_column(Double)]
