"""Messages to webhooks: what came of a night, told at least once, signed.

A delivery is a row like other work: claimed with a lease and a token, tried again with growing delays, done when the
receiver has answered with a status of 200 to 299. A crash between sending and noting it sends a second time; both have
the same `delivery`. docs/regressions.md says how to check a signature.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import secrets
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from analysis.nightly.verdict import read_report
from metrics.base import VERSION
from models.database.session import reading, writing
from models.queue.lease import close, exhausted, finish, no_attempt_left, put_back, take
from models.schema.base import now
from models.schema.nightly import Delivery, Night, Schedule
from models.schema.states import LeaseState
from scheduler.webhooks.address import BadWebhook, RefusedAddress

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from runtime.settings import Settings

log = logging.getLogger(__name__)

LONGEST_DELAY = 6 * 3600.0
"""Seconds between two attempts at most."""

AT_ONCE = 20
"""Deliveries looked for at a time."""

SPARE_SECONDS = 30.0
"""How much longer a claim holds than a request may take."""


@dataclass(frozen=True, repr=False)
class _Message:
    """What is sent where. It has no text of its own, for it holds the secret."""

    about: str
    """The night, for the log."""
    url: str
    secret: str | None
    private: bool
    body: bytes
    identity: str
    moment: int


def deliver_due(engine: Engine, settings: Settings) -> int:
    """Send all messages that are due, one after the other; how many were tried.

    A slow receiver takes its time: call it in a thread of its own.
    """
    with reading(engine) as connection:
        over = _over(connection)
        spent = exhausted(connection, Delivery, settings.webhook_attempts)
    if spent:
        with writing(engine, durable=True) as connection:
            _give_up(connection, spent, settings.webhook_attempts)
    for delivery, owner in over:
        _end_attempt(engine, settings, delivery, owner, "It took longer than its lease.")
    tried = 0
    while True:
        with reading(engine) as connection:
            pending = select(Delivery.id).where(Delivery.state == LeaseState.PENDING, Delivery.not_before <= now())
            due = list(connection.scalars(pending.order_by(Delivery.id).limit(AT_ONCE)))
        claimed = sum(_try(engine, settings, delivery) for delivery in due)
        tried += claimed
        if not claimed:
            return tried


def signature(secret: str, moment: int, body: bytes) -> str:
    """The value of `Steelyard-Signature`: HMAC-SHA256 over the moment (seconds since 1970), a point and the body."""
    digest = hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={moment},v1={digest}"


def _try(engine: Engine, settings: Settings, delivery: int) -> bool:
    """One attempt at one delivery; False where another has claimed it."""
    owner = secrets.token_hex(8)
    with writing(engine) as connection:
        taken = take(
            connection, Delivery, delivery, owner=owner, worker="courier",
            lease_seconds=settings.webhook_seconds + SPARE_SECONDS, max_attempts=settings.webhook_attempts,
        )  # fmt: skip
        if not taken:
            return False
    try:
        with reading(engine) as connection:
            message = _message(connection, delivery, settings)
    except DBAPIError:
        raise
    except Exception as error:
        # What cannot be told of one night must not keep back what is told of others.
        log.exception("Delivery %s cannot be written", delivery)
        unwritten = f"The message could not be written: {type(error).__name__}: {error}."
        _end_attempt(engine, settings, delivery, owner, unwritten)
        return True
    if message is None:
        _end_attempt(engine, settings, delivery, owner, "The schedule has no webhook any more.", final=True)
        return True
    problem, final = _send(message, settings)
    if problem is not None:
        log.warning("%s: the webhook was not told: %s", message.about, problem)
        _end_attempt(engine, settings, delivery, owner, problem, final=final)
        return True
    with writing(engine, durable=True) as connection:
        finish(connection, Delivery, delivery, owner)
    return True


def _message(connection: Connection, delivery: int, settings: Settings) -> _Message | None:
    row = connection.execute(
        select(
            *(Delivery.night_id, Delivery.created_at, now().label("moment")),
            *(Schedule.webhook, Schedule.webhook_secret, Schedule.webhook_private),
        )
        .join(Night, Night.id == Delivery.night_id)
        .join(Schedule, Schedule.id == Night.schedule_id)
        .where(Delivery.id == delivery)
    ).one_or_none()
    if row is None or not row.webhook:
        return None
    report = read_report(connection, row.night_id)
    # The same in every attempt, and another in every installation.
    known_by = f"{delivery} {report.schedule.name} {report.schedule.created_at!r} {row.night_id} {row.created_at!r}"
    identity = hashlib.sha256(known_by.encode()).hexdigest()[:32]
    # In the body, too, which is signed: a header could be changed to pass an old message off as a new one.
    told = {"delivery": identity, **report.as_json()}
    return _Message(
        about=f"Schedule {report.schedule.name}: the night of {report.night.date}",
        url=row.webhook,
        secret=row.webhook_secret,
        private=row.webhook_private or settings.webhook_private,
        body=json.dumps(told, ensure_ascii=False, allow_nan=False).encode(),
        identity=identity,
        moment=int(row.moment),
    )


def _send(message: _Message, settings: Settings) -> tuple[str | None, bool]:
    """Why it failed, None where it did not; and whether another attempt would be in vain."""
    import httpcore

    from scheduler.webhooks.request import post

    headers = {"User-Agent": f"steelyard/{VERSION}", "Steelyard-Delivery": message.identity}
    if message.secret:
        headers["Steelyard-Signature"] = signature(message.secret, message.moment, message.body)
    try:
        status = post(message.url, message.body, headers, seconds=settings.webhook_seconds, private=message.private)
    except (BadWebhook, RefusedAddress) as error:
        return str(error), True
    except httpcore.TimeoutException:
        return f"The webhook did not answer within {settings.webhook_seconds:g} s.", False
    except (httpcore.NetworkError, httpcore.ProtocolError, ssl.SSLError, OSError) as error:
        return f"The webhook cannot be reached: {error}.", False
    if 300 <= status < 400:
        return f"The webhook answered with status {status}; redirects are not followed.", False
    return (None if 200 <= status < 300 else f"The webhook answered with status {status}."), False


def _end_attempt(
    engine: Engine, settings: Settings, delivery: int, owner: str, reason: str, *, final: bool = False
) -> None:
    """Let a delivery wait for its next attempt, or fail after the last; nothing if it is no longer ours."""
    with writing(engine) as connection:
        held = select(Delivery.attempts).where(
            Delivery.id == delivery, Delivery.owner == owner, Delivery.state == LeaseState.RUNNING
        )
        attempts = connection.scalar(held.with_for_update())
        if attempts is None:
            return
        if final or attempts >= settings.webhook_attempts:
            close(connection, Delivery, [delivery], LeaseState.FAILED, reason)
            return
        delay = min(settings.webhook_retry_seconds * 2.0 ** (attempts - 1), LONGEST_DELAY)
        put_back(connection, Delivery, delivery, reason=reason, delay_seconds=delay)


def _give_up(connection: Connection, spent: list[int], webhook_attempts: int) -> None:
    """End deliveries that wait although their attempts are used up, since fewer are allowed than there were."""
    still = select(Delivery.id, Delivery.error).where(Delivery.id.in_(spent), Delivery.state == LeaseState.PENDING)
    for row in connection.execute(still.with_for_update(skip_locked=True)).all():
        reason = no_attempt_left(row.error, "STEELYARD_WEBHOOK_ATTEMPTS", webhook_attempts)
        close(connection, Delivery, [row.id], LeaseState.FAILED, reason)


def _over(connection: Connection) -> list[tuple[int, str]]:
    """Deliveries that somebody claimed and never ended: (id, owner)."""
    rows = connection.execute(
        select(Delivery.id, Delivery.owner).where(Delivery.state == LeaseState.RUNNING, Delivery.lease_until < now())
    )
    return [(row.id, row.owner) for row in rows]
