"""A mail server that keeps what it is sent."""

from __future__ import annotations

import re
from email import message_from_bytes, policy
from typing import Any

from aiosmtpd.controller import Controller


class Postman:
    """Keeps mails."""

    def __init__(self) -> None:
        self.mails: list[Any] = []
        self.recipients: list[list[str]] = []
        """Of each mail, as the mail server got them: what the mail itself says counts for nothing."""
        self.refuses = False
        self.port = 0

    async def handle_DATA(self, server: object, session: object, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        if self.refuses:
            return "550 No such mailbox"
        self.recipients.append(list(envelope.rcpt_tos))
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 OK"

    def last(self) -> str:
        return str(self.mails[-1].get_content())

    def link(self) -> str:
        found = re.search(r"https://mt\.example\.org(/(?:password|account/confirm|invitations)/\S+)", self.last())
        assert found, self.last()
        return found[1]


class AnyPort(Controller):
    """A server of mails on whichever port is free."""

    def _trigger_server(self) -> None:
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()
