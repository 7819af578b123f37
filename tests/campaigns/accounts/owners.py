"""Accounts that own sessions, tokens and links, for tests."""

from __future__ import annotations

from sqlalchemy import Connection, select

from campaigns.accounts.principal import Principal
from models.schema.accounts import WebSession
from tests.service.service import Service

HOUR = 3600.0


def mary_of(service: Service) -> Principal:
    return Principal(service.account("mary"), "mary@example.org")


def owners(connection: Connection) -> list[int]:
    return list(connection.scalars(select(WebSession.account_id).order_by(WebSession.id)))
