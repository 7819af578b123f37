"""Health checks of the scheduler."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError

from models.database.error_kinds import explain
from models.database.session import make_engine, reading
from runtime.health import Check
from runtime.redaction import redacted
from runtime.settings import Settings
from scheduler.leader import has_leader


def check_leading(leads: bool) -> Check:
    """Reports leadership; standing by is healthy, too, since it takes over when the leader ends."""
    return Check("leadership", True, "leading" if leads else "standing by: another scheduler leads")


def check_leader_exists(settings: Settings) -> Check:
    """Whether any scheduler leads this database."""
    engine = make_engine(settings.database_url, pooled=False)
    try:
        with reading(engine) as connection:
            led = has_leader(connection, settings.silent_seconds)
    except DBAPIError as error:
        return Check("scheduler", False, redacted(explain(error)))
    finally:
        engine.dispose()
    return Check("scheduler", led, "a scheduler leads" if led else "no scheduler leads")
