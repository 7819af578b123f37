"""Sends notices: mails once at most, webhooks until they answer.

A mail server may have taken a mail whose sender died before it could note that. So it is noted before: a mail that was
about to be given to the server is never given to it again, and what becomes of one whose sender died just then is not
known. Webhooks have an identity by which receivers know a second copy.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import func, select, update

from models.database.session import reading, writing
from models.database.upsert import insert_ignore
from models.queue.kinds.notice_deliveries import NOTICE_DELIVERY, ClaimedNotice
from models.queue.lease import held_by
from models.queue.task_kind import claim, complete, release
from models.schema.base import now
from models.schema.notices import NoticeAddress, NoticeDelivery
from runtime.mail import NO_MAILS, NOT_SENT, Email, send_email
from runtime.service_settings import site_url
from scheduler.due_tasks import attempt_due
from scheduler.webhooks.delivery import WebhookMessage, send_webhook
from steelyard_client.vocabulary import NoticeChannel

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from runtime.service_settings import WebSettings

log = logging.getLogger(__name__)

DAY = 86400.0
UNCERTAIN = "The mail was being sent when its sender or the mail server failed; it is not sent a second time."
STALE = "It could not be sent within a day."


class _Lost(OSError):
    """Somebody else has taken the notice over."""


def send_notices(engine: Engine, settings: WebSettings) -> int:
    """Send all due notices, one after the other; the number of attempts. Call it in a thread of its own."""
    return attempt_due(engine, NoticeDelivery, settings.webhook_attempts, partial(_try, engine, settings))


def secrets_of(engine: Engine, account_id: int) -> str:
    """The secret by which somebody ends mails, made when it is first needed."""
    row = {"account_id": account_id, "unsubscribe_secret": secrets.token_hex(24), "feed_secret": secrets.token_hex(24)}
    with writing(engine) as connection:
        insert_ignore(connection, NoticeAddress, [row])
        known = select(NoticeAddress.unsubscribe_secret).where(NoticeAddress.account_id == account_id)
        return str(connection.execute(known).scalar_one())


def _try(engine: Engine, settings: WebSettings, key: int) -> bool:
    """Attempt to send; False if another process has claimed it."""
    policy, owner = NOTICE_DELIVERY.policy(settings), secrets.token_hex(8)
    with writing(engine) as connection:
        claimed = claim(connection, NOTICE_DELIVERY, key, policy, owner=owner, worker="courier")
    if claimed is None:
        return False
    problem, final = _sent(engine, settings, claimed)
    with writing(engine, durable=True) as connection:
        if not problem:
            complete(connection, NOTICE_DELIVERY, claimed, None)
        else:
            log.warning("Notice %s to account %s: %s", claimed.notice_id, claimed.account_id, problem)
            release(connection, NOTICE_DELIVERY, key, owner, problem, policy, permanent=final)
    return True


def _sent(engine: Engine, settings: WebSettings, claimed: ClaimedNotice) -> tuple[str, bool]:
    """Why it was not sent, "" if it was; and whether another attempt would be in vain."""
    if claimed.moment - claimed.created_at > DAY:
        return STALE, True
    if claimed.channel == NoticeChannel.WEBHOOK:
        return _post(settings, claimed)
    if claimed.sent_at is not None:
        return UNCERTAIN, True
    with reading(engine) as connection:
        today = connection.scalar(
            select(func.count())
            .select_from(NoticeDelivery)
            .where(NoticeDelivery.account_id == claimed.account_id, NoticeDelivery.sent_at > now() - DAY)
        )
    if (today or 0) >= settings.notice_mails_per_day:
        return f"The account got {today} mails within a day, the limit (STEELYARD_NOTICE_MAILS_PER_DAY).", True
    return _mail(engine, settings, claimed)


def _mail(engine: Engine, settings: WebSettings, claimed: ClaimedNotice) -> tuple[str, bool]:
    site = site_url(settings)
    leave = f"{site}/unsubscribe/{secrets_of(engine, claimed.account_id)}?kind={claimed.kind}"
    text = (
        f"{claimed.text}\n\n{site}{claimed.path}\n\n-- \nYou get this because you take part in the campaign "
        f"{claimed.campaign}.\nNo more mails of this kind: {leave}\nAll choices: {site}/account/notices\n"
    )
    handed_over = False

    def note() -> None:
        nonlocal handed_over
        mine = held_by(NoticeDelivery, claimed.key, claimed.owner)
        with writing(engine, durable=True) as connection:
            noted = connection.execute(
                update(NoticeDelivery).where(mine, NoticeDelivery.sent_at.is_(None)).values(sent_at=now())
            )
            if noted.rowcount != 1:
                raise _Lost("The notice was taken over.")
        handed_over = True

    mail = Email(claimed.email, claimed.title, text, identity=_identity(claimed), unsubscribe=leave)
    problem = send_email(settings, mail, note)
    if not problem:
        return "", False
    if problem == NO_MAILS:
        return problem, True
    if problem == NOT_SENT and handed_over:
        return UNCERTAIN, True
    # The mail server has refused it, or was not reached.
    return problem, problem != NOT_SENT


def _post(settings: WebSettings, claimed: ClaimedNotice) -> tuple[str, bool]:
    identity = _identity(claimed)
    payload = {
        "delivery": identity,
        "kind": claimed.kind.value,
        "campaign": claimed.campaign,
        "title": claimed.title,
        "text": claimed.text,
        "url": f"{site_url(settings)}{claimed.path}",
        "at": claimed.created_at,
    }
    message = WebhookMessage(
        about=f"Notice {claimed.notice_id}",
        url=claimed.webhook or "",
        secret=claimed.webhook_secret,
        private=settings.webhook_private,
        body=json.dumps(payload, ensure_ascii=False, allow_nan=False).encode(),
        identity=identity,
        moment=int(claimed.moment),
    )
    problem, final = send_webhook(message, settings)
    return problem or "", final


def _identity(claimed: ClaimedNotice) -> str:
    """The same in every attempt, and different in every installation."""
    known_by = f"notice {claimed.key} {claimed.notice_id} {claimed.account_id} {claimed.created_at!r}"
    return hashlib.sha256(known_by.encode()).hexdigest()[:32]
