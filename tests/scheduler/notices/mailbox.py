"""A mail server for tests of notices, and what they ask the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

import runtime.mail
from models.database.session import reading, writing
from models.schema.notices import Notice, NoticeChoice, NoticeDelivery
from scheduler.notices.plan import plan_notices
from steelyard_client.vocabulary import NoticeChannel, NoticeKind
from tests.service.port import Port

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.service_settings import WebSettings


class Mailbox:
    """A mail server: what it was given, and how it fails."""

    def __init__(self) -> None:
        self.mails: list[Any] = []
        self.unreachable = False
        self.dies_with: type[BaseException] | BaseException | None = None
        self.meanwhile: Callable[[], None] = lambda: None
        """Called when the server is reached."""


@pytest.fixture
def mailbox(monkeypatch: pytest.MonkeyPatch) -> Mailbox:
    box = Mailbox()

    class Server:
        def __enter__(self) -> Server:
            if box.unreachable:
                raise OSError("no route")
            box.meanwhile()
            return self

        def __exit__(self, *_: object) -> None: ...

        def send_message(self, message: Any, to_addrs: list[str]) -> None:
            box.mails.append((to_addrs[0], message["Subject"], message))
            if box.dies_with is not None:
                raise box.dies_with

    monkeypatch.setattr(runtime.mail, "_connected", lambda _: Server())
    return box


def settings_of(port: Port, **more: Any) -> WebSettings:
    given = {"mail_url": "smtp://localhost", "public_url": "https://mt.example.org", "webhook_private": True, **more}
    return port.service.settings.model_copy(update=given)


def planned(port: Port, *, mails: bool = True) -> int:
    with writing(port.service.engine) as connection:
        return plan_notices(connection, mails=mails)


def told(port: Port) -> list[tuple[str, str]]:
    with reading(port.service.engine) as connection:
        return [(row.kind, row.title) for row in connection.execute(select(Notice).order_by(Notice.id))]


def states(port: Port) -> list[str]:
    with reading(port.service.engine) as connection:
        return list(connection.scalars(select(NoticeDelivery.state).order_by(NoticeDelivery.id)))


def choose(port: Port, who: str, kind: NoticeKind, channel: NoticeChannel, *, wanted: bool) -> None:
    row = {"account_id": port.accounts[who], "kind": kind, "channel": channel, "wanted": wanted}
    with writing(port.service.engine) as connection:
        connection.execute(NoticeChoice.__table__.insert().values(**row))  # type: ignore[attr-defined]
