"""Whether a process is alive and ready for its work, with reasons. Other rooms ask the same questions (`web`)."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from models.database import migrate
from models.database.error_kinds import explain
from models.database.session import make_engine, reading
from models.errors import ModelsError
from models.schema.base import now
from models.schema.queue import Worker
from models.schema.states import QueueClass
from runtime.health import Check
from runtime.redaction import redacted
from runtime.settings import Settings
from worker.errors import BrokerAway
from worker.tasks import Messages


def check_database(url: str) -> Check:
    """Whether the database can be reached and has tables that this release can work with."""
    try:
        found = migrate.current_revision(url)
    except (ModelsError, DBAPIError) as error:
        said = explain(error) if isinstance(error, DBAPIError) else str(error)
        return Check("database", False, redacted(said))
    # Migrations only add, so a newer one than ours does no harm.
    if found is None or found < migrate.REVISION:
        return Check("database", False, f"its tables are {found or 'not there'}: run `steelyard db upgrade`")
    return Check("database", True, f"reachable, tables {found}")


def check_broker(broker: Messages) -> Check:
    """Whether the broker answers."""
    try:
        waiting = sum(broker.count(QueueClass).values())
    except BrokerAway as error:
        return Check("broker", False, redacted(str(error)))
    return Check("broker", True, f"reachable, messages that wait: {waiting}")


def taken(stops: bool) -> Check:
    """Whether messages are still acted on."""
    return Check("messages", not stops, "none are taken any more: it stops" if stops else "taken")


def check_workers(settings: Settings, host: str) -> Check:
    """Whether a worker of a host beats, by what the database says."""
    engine = make_engine(settings.database_url, pooled=False)
    try:
        with reading(engine) as connection:
            beating = Worker.beat_at >= now() - settings.silent_seconds
            amount = len(connection.scalars(select(Worker.id).where(Worker.host == host, beating)).all())
    except DBAPIError as error:
        return Check("worker", False, redacted(explain(error)))
    finally:
        engine.dispose()
    return Check("worker", amount > 0, f"workers of {host} that beat: {amount}")
