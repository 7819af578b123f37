"""A Celery transport for RabbitMQ that tolerates invalid messages.

py-amqp assumes that properties are text and that headers can be parsed: anything else is a connection error, after
which the broker redelivers the message for ever. kombu decompresses whatever claims to be compressed.
"""

from __future__ import annotations

import logging
from typing import Any

from amqp import serialization  # type: ignore[import-untyped]
from amqp.spec import Basic  # type: ignore[import-untyped]
from kombu.transport import TRANSPORT_ALIASES, pyamqp

from worker.messaging.messages import UNREADABLE_TYPE

log = logging.getLogger(__name__)


def install_transport() -> None:
    """Make amqp:// connections of this process tolerate invalid messages. Call it before the first connection."""
    for scheme, transport in (("amqp", "Transport"), ("pyamqp", "Transport"), ("amqps", "SSLTransport")):
        TRANSPORT_ALIASES[scheme] = f"{__name__}:{transport}"
    serialization.PROPERTY_CLASSES[Basic.CLASS_ID] = _properties


def _properties(buffer: Any, offset: int) -> tuple[dict[str, Any], int]:
    """The properties and headers of a message, or placeholders that mark it as unreadable."""
    try:
        found, end = serialization.decode_properties_basic(buffer, offset)
    except Exception as error:  # whatever somebody has written there
        log.debug("Invalid message from the broker: %s", type(error).__name__)
        return {"content_type": UNREADABLE_TYPE}, len(buffer)
    return found, end


class Message(pyamqp.Message):
    """A message that is never decompressed: ours are not compressed, and a few bytes could exhaust the memory."""

    def __init__(self, message: Any, channel: Any = None, **more: Any) -> None:
        if (message.properties.get("application_headers") or {}).get("compression"):
            message.properties = {"content_type": UNREADABLE_TYPE}
        super().__init__(message, channel=channel, **more)  # type: ignore[no-untyped-call]


class Channel(pyamqp.Channel):
    """A channel with such messages."""

    Message = Message  # type: ignore[assignment]


class Connection(pyamqp.Connection):
    """A connection with such channels."""

    Channel = Channel


class Transport(pyamqp.Transport):
    """A transport that tolerates invalid messages."""

    Connection = Connection


class SSLTransport(pyamqp.SSLTransport):
    """The same, with TLS."""

    Connection = Connection
