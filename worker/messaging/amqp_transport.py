"""Celery's way of reading messages from RabbitMQ, which goes on where what it reads is no message.

py-amqp takes for granted that properties are text and that headers can be taken apart: anything else is an error of the
connection, after which the broker sends the same message again, for ever. kombu unpacks what says that it is packed.
"""

from __future__ import annotations

import logging
from typing import Any

from amqp import serialization  # type: ignore[import-untyped]
from amqp.spec import Basic  # type: ignore[import-untyped]
from kombu.transport import TRANSPORT_ALIASES, pyamqp

from worker.messaging.messages import UNREADABLE_TYPE

log = logging.getLogger(__name__)


def read_with_care() -> None:
    """Let connections of this process to amqp:// and the like read so. Call it before the first is made."""
    for scheme, transport in (("amqp", "Transport"), ("pyamqp", "Transport"), ("amqps", "SSLTransport")):
        TRANSPORT_ALIASES[scheme] = f"{__name__}:{transport}"
    serialization.PROPERTY_CLASSES[Basic.CLASS_ID] = _properties


def _properties(buffer: Any, offset: int) -> tuple[dict[str, Any], int]:
    """The properties and headers of a message, or what says that they cannot be taken apart."""
    try:
        found, end = serialization.decode_properties_basic(buffer, offset)
    except Exception as error:  # whatever somebody has written there
        log.debug("What was read from the broker is no message: %s", type(error).__name__)
        return {"content_type": UNREADABLE_TYPE}, len(buffer)
    return found, end


class Message(pyamqp.Message):
    """A message that is never unpacked: ours are not packed, and a few bytes could fill the memory."""

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
    """Reads with care."""

    Connection = Connection


class SSLTransport(pyamqp.SSLTransport):
    """The same, encrypted."""

    Connection = Connection
