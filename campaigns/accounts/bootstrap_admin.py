"""How the first account comes about: a server without any prints a link; who has it becomes the administrator."""

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
"""How long it is good; the next start makes another."""


def first_link(engine: Engine, settings: WebSettings, public_url: str) -> str | None:
    """A link that makes one administrator's account, once; None where there are accounts.

    Of several servers that start, the last one's link is good: those before it are not.
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
