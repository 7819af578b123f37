"""Health checks of processes, with reasons. Other rooms use them, too (`web`)."""

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
from worker.tasks import MessageTransport


def check_database(url: str) -> Check:
    """Whether the database is reachable and has compatible tables."""
    try:
        found = migrate.current_revision(url)
    except (ModelsError, DBAPIError) as error:
        said = explain(error) if isinstance(error, DBAPIError) else str(error)
        return Check("database", False, redacted(said))
    # Migrations only add, so a newer schema does no harm.
    if found is None or found < migrate.REVISION:
        return Check("database", False, f"its tables are {found or 'not there'}: run `steelyard db upgrade`")
    return Check("database", True, f"reachable, tables {found}")


def check_broker(broker: MessageTransport) -> Check:
    """Whether the broker responds."""
    try:
        waiting = sum(broker.count(QueueClass).values())
    except BrokerAway as error:
        return Check("broker", False, redacted(str(error)))
    return Check("broker", True, f"reachable, waiting messages: {waiting}")


def taken(stops: bool) -> Check:
    """Whether messages are still handled."""
    return Check("messages", not stops, "no longer handled: the worker is stopping" if stops else "handled")


def check_workers(settings: Settings, host: str) -> Check:
    """Whether a worker of a host has a recent heartbeat in the database."""
    engine = make_engine(settings.database_url, pooled=False)
    try:
        with reading(engine) as connection:
            beating = Worker.beat_at >= now() - settings.silent_seconds
            amount = len(connection.scalars(select(Worker.id).where(Worker.host == host, beating)).all())
    except DBAPIError as error:
        return Check("worker", False, redacted(explain(error)))
    finally:
        engine.dispose()
    return Check("worker", amount > 0, f"responsive workers of {host}: {amount}")
