"""The leader of a database's schedulers: one row, with a term that its holder must renew before it expires."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, or_, select, update

from models.database.upsert import insert_ignore
from models.schema.base import now
from models.schema.queue import Leader

FAR_SECONDS = 60.0
"""A term that ends later than this was written before the database's clock was set back."""


def read_leader(connection: Connection, term_seconds: float) -> str | None:
    """The holder of the current term; None if it has expired or never existed."""
    return connection.scalar(select(Leader.holder).where(Leader.id == 1, ~_expired(term_seconds)))


def acquire_leadership(connection: Connection, holder: str, term_seconds: float, *, dead: str | None = None) -> bool:
    """Begin or renew a term; False if another holder's term is current. `dead` is a holder known to have ended."""
    free = [Leader.holder == holder, _expired(term_seconds)]
    if dead is not None:
        free.append(Leader.holder == dead)
    taking = update(Leader).where(Leader.id == 1, or_(*free)).values(holder=holder, expires_at=now() + term_seconds)
    if connection.execute(taking).rowcount:
        return True
    # The very first leader finds no row.
    insert_ignore(connection, Leader, [{"id": 1, "holder": "", "expires_at": 0.0}])
    return bool(connection.execute(taking).rowcount)


def release_leadership(connection: Connection, holder: str) -> None:
    """End a term before it expires."""
    connection.execute(update(Leader).where(Leader.id == 1, Leader.holder == holder).values(expires_at=0.0))


def _expired(term_seconds: float) -> ColumnElement[bool]:
    return or_(Leader.expires_at < now(), Leader.expires_at > now() + term_seconds + FAR_SECONDS)
