"""The first account: a server without accounts prints a link that creates its administrator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from campaigns.accounts.secrets import hash_of, new_secret
from models.audit import write_audit
from models.database.session import reading, writing
from models.schema.accounts import Account, Invitation
from models.schema.base import now
from models.schema.roles import SiteRole

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from runtime.service_settings import WebSettings

LINK_SECONDS = 86400.0
"""Lifetime of the link; the next start makes another."""


def bootstrap_link(engine: Engine, settings: WebSettings, public_url: str) -> str | None:
    """Return a link that creates one administrator's account, once; None if there are accounts.

    If several servers start, only the link of the last one works.
    """
    with reading(engine) as connection:
        if _has_accounts(connection):
            return None
    secret = new_secret()
    with writing(engine) as connection:
        if _has_accounts(connection):
            return None
        unused = Invitation.made_by.is_(None), Invitation.used_at.is_(None), Invitation.email == ""
        connection.execute(delete(Invitation).where(Invitation.role == SiteRole.ADMINISTRATOR, *unused))
        connection.execute(
            insert(Invitation).values(
                secret_hash=hash_of(secret),
                role=SiteRole.ADMINISTRATOR,
                expires_at=now() + min(LINK_SECONDS, settings.invitation_seconds),
            )
        )
        write_audit(connection, actor="server", action="invitation.first", subject="first administrator")
    return f"{public_url}/invitations/{secret}"


def _has_accounts(connection: Connection) -> bool:
    return connection.scalar(select(Account.id).limit(1)) is not None
