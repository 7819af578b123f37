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
from models.queue.kinds.deliveries import DELIVERY, ClaimedDelivery
from models.queue.task_kind import claim, complete, release
from models.schema.base import now
from models.schema.nightly import Delivery
from models.schema.states import LeaseState
from scheduler.webhooks.address import BadWebhook, RefusedAddress

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from runtime.settings import Settings

log = logging.getLogger(__name__)

AT_ONCE = 20
"""Deliveries looked for at a time."""


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

    A slow receiver takes its time: call it in a thread of its own. The sweep takes back what is not ended in time.
    """
    tried = 0
    while True:
        with reading(engine) as connection:
            pending = select(Delivery.id).where(
                Delivery.state == LeaseState.PENDING,
                Delivery.not_before <= now(),
                Delivery.attempts < settings.webhook_attempts,
            )
            due = list(connection.scalars(pending.order_by(Delivery.id).limit(AT_ONCE)))
        claimed = sum(_try(engine, settings, delivery) for delivery in due)
        tried += claimed
        if not claimed:
            return tried


def signature(secret: str, moment: int, body: bytes) -> str:
    """The value of `Steelyard-Signature`: HMAC-SHA256 over the moment (seconds since 1970), a point and the body."""
    digest = hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={moment},v1={digest}"


def _try(engine: Engine, settings: Settings, key: int) -> bool:
    """One attempt at one delivery; False where another has claimed it."""
    policy, owner = DELIVERY.policy(settings), secrets.token_hex(8)
    with writing(engine) as connection:
        claimed = claim(connection, DELIVERY, key, policy, owner=owner, worker="courier")
    if claimed is None:
        return False
    problem, final = _deliver(engine, settings, claimed)
    with writing(engine, durable=True) as connection:
        if problem is None:
            complete(connection, DELIVERY, claimed, None)
        else:
            release(connection, DELIVERY, key, owner, problem, policy, permanent=final)
    return True


def _deliver(engine: Engine, settings: Settings, claimed: ClaimedDelivery) -> tuple[str | None, bool]:
    """Why it failed, None where it did not; and whether another attempt would be in vain."""
    if not claimed.webhook:
        return "The schedule has no webhook any more.", True
    try:
        with reading(engine) as connection:
            message = _message(connection, claimed, claimed.webhook, settings)
    except DBAPIError:
        raise
    except Exception as error:
        # What cannot be told of one night must not keep back what is told of others.
        log.exception("Delivery %s cannot be written", claimed.key)
        return f"The message could not be written: {type(error).__name__}: {error}.", False
    problem, final = _send(message, settings)
    if problem is not None:
        log.warning("%s: the webhook was not told: %s", message.about, problem)
    return problem, final


def _message(connection: Connection, claimed: ClaimedDelivery, url: str, settings: Settings) -> _Message:
    report = read_report(connection, claimed.night_id)
    schedule = report.schedule
    # The same in every attempt, and another in every installation.
    known_by = f"{claimed.key} {schedule.name} {schedule.created_at!r} {claimed.night_id} {claimed.created_at!r}"
    identity = hashlib.sha256(known_by.encode()).hexdigest()[:32]
    # In the body, too, which is signed: a header could be changed to pass an old message off as a new one.
    told = {"delivery": identity, **report.as_json()}
    return _Message(
        about=f"Schedule {schedule.name}: the night of {report.night.date}",
        url=url,
        secret=claimed.secret,
        private=claimed.private or settings.webhook_private,
        body=json.dumps(told, ensure_ascii=False, allow_nan=False).encode(),
        identity=identity,
        moment=int(claimed.moment),
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
