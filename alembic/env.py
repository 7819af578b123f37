"""Runs migrations on the connection that models/database/migrate.py passes, or on the URL of the settings.

This folder must never get an `__init__.py`: it would hide the library of the same name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import date, timedelta

from alembic import context
from alembic.operations import MigrationScript
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection

from models.database.session import make_engine, writing
from models.schema.base import Base


def name_revision(_: MigrationContext, parents: str | Iterable[str | None], scripts: list[MigrationScript]) -> None:
    """Call a new migration by its day, the day after the newest one at least: revisions are compared as texts."""
    newest = max((each for each in ([parents] if isinstance(parents, str) else parents) if each), default="")
    day = date.today()
    if newest:
        day = max(day, date.fromisoformat(newest) + timedelta(days=1))
    for script in scripts:
        script.rev_id = f"{day:%Y%m%d}"


def migrate(connection: Connection) -> None:
    """Run what was asked for, inside the transaction of the connection."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=connection.dialect.name == "sqlite",
        compare_type=True,
        process_revision_directives=name_revision,
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
