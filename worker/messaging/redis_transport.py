"""Celery's way of reading messages from Redis, which goes on where what it reads is no message.

kombu takes for granted that whatever lies in the list of a queue was put there by kombu: anything else is an error in
the loop of the worker, which ends then.
"""

from __future__ import annotations

import logging
import uuid
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, redis, virtual

from worker.messaging.messages import UNREADABLE_TYPE

log = logging.getLogger(__name__)


def read_with_care() -> None:
    """Let connections of this process to redis:// and rediss:// read so. Call it before the first is made."""
    for scheme in ("redis", "rediss"):
        TRANSPORT_ALIASES[scheme] = f"{__name__}:Transport"


def _unreadable() -> dict[str, Any]:
    """What stands for a message that is none."""
    properties = {"delivery_tag": uuid.uuid4().hex, "delivery_info": {}}
    return {"body": "", "content-type": UNREADABLE_TYPE, "headers": {}, "properties": properties}


class Message(virtual.Message):
    """A message, or what stands for one that cannot be taken apart.

    One that says that it is packed is none: kombu would unpack it, and a few bytes could fill the memory.
    """

    def __init__(self, payload: Any, channel: Any = None, **more: Any) -> None:
        try:
            if (payload.get("headers") or {}).get("compression"):
                payload = _unreadable()
            super().__init__(payload, channel=channel, **more)  # type: ignore[no-untyped-call]
        except Exception:  # whatever somebody has written there
            super().__init__(_unreadable(), channel=channel, **more)  # type: ignore[no-untyped-call]


class Channel(redis.Channel):
    """A channel on which what is no message is delivered as an unreadable one."""

    Message = Message

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[no-untyped-call]
        except (Empty, *self.connection.connection_errors, *self.connection.channel_errors):
            raise
        except Exception as error:  # what handles messages lets none through: it was not even one
            log.debug("What was read from Redis is no message: %s", type(error).__name__)
        for deliver in list(self.connection._callbacks.values())[:1]:
            deliver(_unreadable())
        return True


class Transport(redis.Transport):
    """Redis with such channels."""

    Channel = Channel
