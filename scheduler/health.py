"""What is asked of a scheduler."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError

from models.database.error_kinds import explain
from models.database.session import make_engine, reading
from runtime.health import Check
from runtime.redaction import redacted
from runtime.settings import Settings
from scheduler.leader import is_led


def check_leading(leads: bool) -> Check:
    """Both are well: one that stands by takes over when the other ends."""
    return Check("leadership", True, "leading" if leads else "standing by: another scheduler leads")


def check_led(settings: Settings) -> Check:
    """Whether somebody hands out the work of this database."""
    engine = make_engine(settings.database_url, pooled=False)
    try:
        with reading(engine) as connection:
            led = is_led(connection, settings.silent_seconds)
    except DBAPIError as error:
        return Check("scheduler", False, redacted(explain(error)))
    finally:
        engine.dispose()
    return Check("scheduler", led, "somebody hands out work" if led else "nobody hands out work")
