"""Runs migrations on the connection that models/database/migrate.py passes, or on the URL of the settings.

This folder must never get an `__init__.py`: it would hide the library of the same name.
"""

from __future__ import annotations

import os

from alembic import context
from sqlalchemy import Connection

from models.database.session import make_engine, writing
from models.schema.base import Base


def migrate(connection: Connection) -> None:
    """Run what was asked for, inside the transaction of the connection."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=connection.dialect.name == "sqlite",
        compare_type=True,
        transaction_per_migration=False,
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    migrate(given)
else:
    url = context.get_x_argument(as_dictionary=True).get("url") or os.environ.get("STEELYARD_DATABASE_URL")
    if not url:
        raise SystemExit("Say which database: set STEELYARD_DATABASE_URL, or give -x url=...")
    with writing(make_engine(url)) as opened:
        migrate(opened)
