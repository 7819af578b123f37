"""Webhook deliveries: the outcome of a nightly run, sent at least once, signed.

A delivery is a leased task: it is retried with growing delays until the receiver responds with a status of 200 to 299.
A crash between sending and recording it sends a second time; both have the same `delivery`.
docs/reference/regressions.md says how to verify a signature.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import secrets
import ssl
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError

from analysis.nightly.verdict import read_report
from models.database.session import reading, writing
from models.queue.kinds.deliveries import DELIVERY, ClaimedDelivery
from models.queue.task_kind import claim, complete, release
from models.schema.nightly import Delivery
from runtime.tracing import span
from scheduler.due_tasks import attempt_due
from scheduler.webhooks.address import BadWebhook, RefusedAddress
from steelyard.metrics.metric import VERSION

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from runtime.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True, repr=False)
class WebhookMessage:
    """A request. Its repr is disabled, since it holds the secret."""

    about: str
    """What it is about, for the log."""
    url: str
    secret: str | None
    private: bool
    body: bytes
    identity: str
    moment: int


def deliver_due(engine: Engine, settings: Settings) -> int:
    """Send all due deliveries, one after the other; the number of attempts.

    A receiver may be slow: call it in a thread of its own. The sweep reclaims deliveries that do not end in time.
    """
    return attempt_due(engine, Delivery, settings.webhook_attempts, partial(_try, engine, settings))


def signature(secret: str, moment: int, body: bytes) -> str:
    """The value of `Steelyard-Signature`: HMAC-SHA256 over the moment (seconds since 1970), a point and the body."""
    digest = hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={moment},v1={digest}"


def _try(engine: Engine, settings: Settings, key: int) -> bool:
    """Attempt a delivery; False if another process has claimed it."""
    policy, owner = DELIVERY.policy(settings), secrets.token_hex(8)
    with writing(engine) as connection:
        claimed = claim(connection, DELIVERY, key, policy, owner=owner, worker="courier")
    if claimed is None:
        return False
    with span(DELIVERY.title, claimed.trace, "client", key=key, attempt=claimed.attempt):
        problem, final = _deliver(engine, settings, claimed)
    with writing(engine, durable=True) as connection:
        if problem is None:
            complete(connection, DELIVERY, claimed, None)
        else:
            release(connection, DELIVERY, key, owner, problem, policy, permanent=final)
    return True


def _deliver(engine: Engine, settings: Settings, claimed: ClaimedDelivery) -> tuple[str | None, bool]:
    """The error, None on success; and whether another attempt would be in vain."""
    if not claimed.webhook:
        return "The schedule's webhook was removed.", True
    try:
        with reading(engine) as connection:
            message = _message(connection, claimed, claimed.webhook, settings)
    except DBAPIError:
        raise
    except Exception as error:
        # A message that cannot be created must not block the others.
        log.exception("Delivery %s cannot be written", claimed.key)
        return f"The message could not be written: {type(error).__name__}: {error}.", False
    problem, final = send_webhook(message, settings)
    if problem is not None:
        log.warning("%s: the webhook delivery failed: %s", message.about, problem)
    return problem, final


def _message(connection: Connection, claimed: ClaimedDelivery, url: str, settings: Settings) -> WebhookMessage:
    report = read_report(connection, claimed.nightly_run_id)
    schedule = report.schedule
    # The same in every attempt, and different in every installation.
    known_by = f"{claimed.key} {schedule.name} {schedule.created_at!r} {claimed.nightly_run_id} {claimed.created_at!r}"
    identity = hashlib.sha256(known_by.encode()).hexdigest()[:32]
    # Also in the signed body: a header could be changed to replay an old message.
    payload = {"delivery": identity, **report.document.model_dump(mode="json")}
    return WebhookMessage(
        about=f"Schedule {schedule.name}: the run of {report.nightly_run.date}",
        url=url,
        secret=claimed.secret,
        private=claimed.private or settings.webhook_private,
        body=json.dumps(payload, ensure_ascii=False, allow_nan=False).encode(),
        identity=identity,
        moment=int(claimed.moment),
    )


def send_webhook(message: WebhookMessage, settings: Settings) -> tuple[str | None, bool]:
    """The error, None on success; and whether another attempt would be in vain."""
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
