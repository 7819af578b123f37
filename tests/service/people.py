"""Accounts with passwords, and browsers that use forms as people do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from argon2 import PasswordHasher
from sqlalchemy import select, update

from models.database.session import reading, writing
from models.schema.accounts import Account, AuditEntry
from web.dependencies import FORM_FIELD

if TYPE_CHECKING:
    from fastapi.testclient import TestClient
    from httpx import Response

    from tests.service.service import Service

PASSWORD = "correct horse battery"
_CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
CHEAPLY_HASHED = _CHEAP.hash(PASSWORD)
_TOKEN = re.compile(rf'name="{FORM_FIELD}" value="([0-9a-f]+)"')


def with_password(service: Service, account_id: int, password: str = PASSWORD) -> int:
    """Give an account a password, hashed so that tests need not wait for it."""
    with writing(service.engine) as connection:
        mine = update(Account).where(Account.id == account_id)
        connection.execute(mine.values(password_hash=_CHEAP.hash(password)))
    return account_id


def submit(client: TestClient, page: str, address: str | None = None, **fields: Any) -> Response:
    """Open a page and send its form, to another address where that is said."""
    shown = client.get(page)
    found = _TOKEN.search(shown.text)
    assert found, f"no form on {page}: {shown.status_code}"
    return client.post(address or page, data={FORM_FIELD: found[1], **fields}, follow_redirects=False)


def audited(service: Service) -> list[tuple[str, str, str]]:
    """Who did what to what, in order."""
    with reading(service.engine) as connection:
        rows = connection.execute(select(AuditEntry).order_by(AuditEntry.id))
        return [(row.actor, row.action, row.subject) for row in rows]


def everything_stored(service: Service) -> str:
    """All rows of all tables as text, to look for what must not be there."""
    from models.schema.base import Base

    with reading(service.engine) as connection:
        return "\n".join(
            str(tuple(row)) for table in Base.metadata.tables.values() for row in connection.execute(select(table))
        )
