"""What a connection to a broker makes of bytes that kombu did not write: unreadable messages, never an error."""

from __future__ import annotations

from queue import Empty
from types import SimpleNamespace
from typing import Any

import pytest
from amqp import serialization
from amqp.spec import Basic
from kombu.transport import redis as kombu_redis

from worker.messaging import amqp_transport, redis_transport
from worker.messaging.messages import UNREADABLE_TYPE, find_fault


@pytest.mark.parametrize("compression", ["application/x-gzip", "zlib", None, ""])
def test_what_claims_to_be_compressed_is_not_unpacked(compression: str | None) -> None:
    """A few bytes could exhaust the memory."""
    properties = {"content_type": "application/json", "application_headers": {"compression": compression, "id": "x"}}
    given = SimpleNamespace(
        properties=properties, body=b"not compressed", delivery_info={}, delivery_tag=1, channel=None
    )
    message = amqp_transport.Message(given, channel=None)
    if compression:
        assert message.content_type == UNREADABLE_TYPE
        fault = find_fault(message)
        assert fault is not None
        assert fault.reason == "unreadable"
    else:
        assert message.content_type == "application/json"
        assert message.headers["id"] == "x"


def test_headers_that_cannot_be_parsed_mark_a_message_as_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an error the broker would hear as the end of the connection, and deliver the message again and again."""
    monkeypatch.setattr(serialization, "PROPERTY_CLASSES", dict(serialization.PROPERTY_CLASSES))
    monkeypatch.setattr(amqp_transport, "TRANSPORT_ALIASES", {})
    amqp_transport.install_transport()
    parse = serialization.PROPERTY_CLASSES[Basic.CLASS_ID]
    # The content type and its length, and then the flag of headers without any.
    good, _ = parse(b"\x80\x00\x04text", 0)
    assert good == {"content_type": "text"}
    for broken in (b"\x20\x00\xff\xff", b"\x80\x00\x01\xff", b""):
        found, end = parse(broken, 0)
        assert (found, end) == ({"content_type": UNREADABLE_TYPE}, len(broken))


class Delivered:
    """A channel of Redis, with two consumers, whose next message is read so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, result: Any) -> None:
        self.messages: list[tuple[str, Any]] = []

        def read(_channel: object, **_: object) -> Any:
            if isinstance(result, Exception):
                raise result
            return result

        monkeypatch.setattr(kombu_redis.Channel, "_brpop_read", read)
        self.channel = object.__new__(redis_transport.Channel)
        self.channel.connection = SimpleNamespace(
            connection_errors=(ConnectionError,),
            channel_errors=(LookupError,),
            _callbacks={name: lambda message, name=name: self.messages.append((name, message)) for name in ("a", "b")},
        )


def test_a_message_that_is_read_is_delivered_by_kombu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    redis = Delivered(monkeypatch, "done")
    assert redis.channel._brpop_read() == "done"
    assert redis.messages == []


@pytest.mark.parametrize("error", [Empty(), ConnectionError("cut"), LookupError("no channel")])
def test_what_is_wrong_with_the_connection_is_left_to_kombu(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    redis = Delivered(monkeypatch, error)
    with pytest.raises(type(error)):
        redis.channel._brpop_read()
    assert redis.messages == []


def test_what_is_no_message_is_delivered_once_as_an_unreadable_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has been taken from the queue, and is counted as dropped."""
    redis = Delivered(monkeypatch, ValueError("garbage"))
    assert redis.channel._brpop_read() is True
    ((consumer, given),) = redis.messages
    assert consumer == "a"
    fault = find_fault(redis_transport.Message(given))
    assert fault is not None
    assert fault.reason == "unreadable"
