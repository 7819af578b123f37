"""What notices somebody gets: by kind and channel, and the addresses of feed and webhook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select, update

from campaigns.accounts.secrets import new_secret
from campaigns.errors import BadRequest, NotFound
from models.database.upsert import insert_ignore, upsert
from models.notices.choices import Wanted, choices_of
from models.schema.accounts import Account
from models.schema.notices import NoticeAddress, NoticeChoice
from models.schema.roles import Scope
from scheduler.webhooks.address import BadWebhook, RefusedAddress, check_webhook
from steelyard_client.vocabulary import NoticeChannel, NoticeKind

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.accounts.principal import Principal
    from runtime.service_settings import WebSettings

MAX_WEBHOOK_LENGTH = 500


@dataclass(frozen=True, slots=True)
class NoticeSettings:
    """What somebody gets."""

    choices: Wanted
    verified: bool
    """Whether the account's address is confirmed: others get no mails."""
    feed_secret: str
    webhook: str | None


def read_notice_settings(connection: Connection, principal: Principal) -> NoticeSettings:
    """Return what the account gets; a secret for its feed is made when it is first asked for.

    Raises
    ------
    NotSignedIn, Forbidden
        Without an account.
    """
    account_id = principal.require_account(Scope.READ)
    row = {"account_id": account_id, "unsubscribe_secret": new_secret(), "feed_secret": new_secret()}
    insert_ignore(connection, NoticeAddress, [row])
    known = connection.execute(
        select(NoticeAddress.feed_secret, NoticeAddress.webhook, Account.verified_at)
        .join(Account, Account.id == NoticeAddress.account_id)
        .where(NoticeAddress.account_id == account_id)
    ).one()
    choices = choices_of(connection, [account_id])[account_id]
    return NoticeSettings(choices, known.verified_at is not None, known.feed_secret, known.webhook)


def change_notices(
    connection: Connection,
    settings: WebSettings,
    principal: Principal,
    choices: Mapping[tuple[NoticeKind, NoticeChannel], bool],
    *,
    webhook: str | None = None,
    renew_feed: bool = False,
) -> str | None:
    """Change what the account gets; the key of a new webhook, which is shown once.

    `webhook` is a new address, "" for none, None to leave it as it is.

    Raises
    ------
    NotSignedIn, Forbidden
        Without an account, or the scope to change it.
    BadRequest
        For an address that the server does not send to.
    """
    account_id = principal.require_account(Scope.ORGANISE)
    read_notice_settings(connection, principal)
    rows = [
        {"account_id": account_id, "kind": kind, "channel": channel, "wanted": wanted}
        for (kind, channel), wanted in choices.items()
    ]
    upsert(connection, NoticeChoice, rows, ["wanted"])
    own = update(NoticeAddress).where(NoticeAddress.account_id == account_id)
    if renew_feed:
        connection.execute(own.values(feed_secret=new_secret()))
    secret = None
    if webhook is not None:
        address = _checked(webhook.strip(), private=settings.webhook_private)
        secret = new_secret() if address else None
        connection.execute(own.values(webhook=address, webhook_secret=secret))
    return secret


def unsubscribe(connection: Connection, secret: str, kind: NoticeKind | None) -> None:
    """End mails of a kind, or of all kinds, for whoever got a link with this secret.

    Raises
    ------
    NotFound
        For an unknown secret.
    """
    account_id = find_subscriber(connection, secret)
    rows = [
        {"account_id": account_id, "kind": each, "channel": NoticeChannel.MAIL, "wanted": False}
        for each in (NoticeKind if kind is None else (kind,))
    ]
    upsert(connection, NoticeChoice, rows, ["wanted"])


def find_subscriber(connection: Connection, secret: str) -> int:
    """Return the account of a secret in a mail. Raises NotFound."""
    known = connection.scalar(select(NoticeAddress.account_id).where(NoticeAddress.unsubscribe_secret == secret))
    if known is None:
        raise NotFound("This link is not known. Sign in to choose which notices you get.")
    return known


def _checked(address: str, *, private: bool) -> str | None:
    if not address:
        return None
    if len(address) > MAX_WEBHOOK_LENGTH:
        raise BadRequest(f"The address has {len(address)} characters; {MAX_WEBHOOK_LENGTH} are allowed.")
    try:
        check_webhook(address, private=private)
    except (BadWebhook, RefusedAddress) as error:
        raise BadRequest(str(error)) from None
    return address
