"""Rows of any table, made from what its columns must hold."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Boolean, Connection, LargeBinary, String, Table, TypeDecorator, func, insert, select

from models.schema.base import Base
from models.schema.column_types import EnumText, JsonOf


def stored_row(connection: Connection, table: Table, **given: Any) -> None:
    """Insert a row: the given columns, something in those that need a value, and nothing in all others."""
    values = {
        column.name: _something(column.type)
        for column in table.columns
        if not (column.nullable or column.default is not None or column.server_default is not None)
        and not (column.primary_key and len(table.primary_key) == 1 and not column.foreign_keys)
    }
    names = {column.name for column in table.columns}
    connection.execute(insert(table).values(values | {name: each for name, each in given.items() if name in names}))


def _something(kind: Any) -> Any:
    if isinstance(kind, EnumText):
        return next(iter(kind.kind))
    if isinstance(kind, JsonOf):
        return [] if str(kind.shape).startswith("list") else {}
    if isinstance(kind, TypeDecorator):
        kind = kind.impl
    if isinstance(kind, String):
        return "x"
    if isinstance(kind, LargeBinary):
        return b""
    return False if isinstance(kind, Boolean) else 1


def rows_of_campaigns(connection: Connection) -> dict[str, dict[int, int]]:
    """Of each table that names a campaign, but the audit log, how many rows each campaign has."""
    return {
        table.name: dict(
            connection.execute(
                select(table.c.campaign_id, func.count())
                .where(table.c.campaign_id.is_not(None))
                .group_by(table.c.campaign_id)
            ).all()
        )
        for table in campaign_tables()
    }


def campaign_tables() -> list[Table]:
    """All tables whose rows belong to a campaign."""
    return [
        table for table in Base.metadata.sorted_tables if "campaign_id" in table.columns and table.name != "audit_entry"
    ]
