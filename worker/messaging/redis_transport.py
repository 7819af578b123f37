"""A Celery transport for Redis that tolerates invalid messages.

kombu assumes that it wrote everything in a queue's list: anything else raises in the worker's event loop, which then
ends.
"""

from __future__ import annotations

import logging
import uuid
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, redis, virtual

from worker.messaging.messages import UNREADABLE_TYPE

log = logging.getLogger(__name__)


def install_transport() -> None:
    """Make Redis connections of this process tolerate invalid messages. Call it before the first one."""
    for scheme in ("redis", "rediss"):
        TRANSPORT_ALIASES[scheme] = f"{__name__}:Transport"


def _unreadable() -> dict[str, Any]:
    """A placeholder for an invalid message."""
    properties = {"delivery_tag": uuid.uuid4().hex, "delivery_info": {}}
    return {"body": "", "content-type": UNREADABLE_TYPE, "headers": {}, "properties": properties}


class Message(virtual.Message):
    """A message, or a placeholder for an unparsable one.

    A message that claims to be compressed is invalid: kombu would decompress it, and a few bytes could exhaust the
    memory.
    """

    def __init__(self, payload: Any, channel: Any = None, **more: Any) -> None:
        try:
            if (payload.get("headers") or {}).get("compression"):
                payload = _unreadable()
            super().__init__(payload, channel=channel, **more)  # type: ignore[no-untyped-call]
        except Exception:  # whatever somebody has written there
            super().__init__(_unreadable(), channel=channel, **more)  # type: ignore[no-untyped-call]


class Channel(redis.Channel):
    """A channel that delivers invalid messages as unreadable ones, and sends by one client."""

    Message = Message
    _kept: Any = None

    def _create_client(self, asynchronous: bool = False) -> Any:
        """As kombu's, which makes a client for each message that is sent: a third of what sending takes."""
        if asynchronous:
            return super()._create_client(asynchronous=True)  # type: ignore[no-untyped-call]
        if self._kept is None or self._kept.connection_pool is not self.pool:
            self._kept = super()._create_client()  # type: ignore[no-untyped-call]
        return self._kept

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[no-untyped-call]
        except (Empty, *self.connection.connection_errors, *self.connection.channel_errors):
            raise
        except Exception as error:  # what handles messages lets none through: it was not even one
            log.debug("Invalid message from Redis: %s", type(error).__name__)
        for deliver in list(self.connection._callbacks.values())[:1]:
            deliver(_unreadable())
        return True


class Transport(redis.Transport):
    """Redis with such channels."""

    Channel = Channel
