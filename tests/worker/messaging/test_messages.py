"""Which messages a worker takes for its own."""

from types import SimpleNamespace

import kombu.transport
import pytest
from kombu import Connection
from kombu.transport import pyamqp
from kombu.transport import redis as kombu_redis

from models.queue.kinds.reductions import REDUCTION
from models.queue.kinds.registry import BY_MESSAGE
from tests.worker.strange import CHANGES, GOOD, RAW, changed
from worker.messaging import amqp_transport, redis_transport
from worker.messaging.celery_tasks import WAKE
from worker.messaging.messages import UNREADABLE_TYPE, Fault, find_fault
from worker.messaging.redis_transport import Channel, Message
from worker.tasks import MOST_TOGETHER


@pytest.fixture(scope="module")
def channel():
    with Connection("memory://") as connection:
        yield connection.channel()


def told(payload, channel):
    fault = find_fault(Message(payload, channel=channel))
    return fault and fault.reason


def test_ours_are_taken(channel):
    assert told(changed(("body",), GOOD["body"]), channel) is None
    for task in BY_MESSAGE:
        assert told(changed(("headers", "task"), task), channel) is None
    wake = changed(("body",), [[], {}, {}])
    assert told({**wake, "headers": {**GOOD["headers"], "task": WAKE}}, channel) is None
    for keys, fault in (
        ([5, 6, 7], None),
        (list(range(MOST_TOGETHER)), None),
        (list(range(MOST_TOGETHER + 1)), "wrong"),
    ):
        several = changed(("body",), [keys, {}, {}])
        assert told(several, channel) == fault
        alone = {**several, "headers": {**GOOD["headers"], "task": REDUCTION.message}}
        assert told(alone, channel) == "wrong", "nobody sends several of these"
    # Of a release to come: whoever does the task says so.
    assert told(changed(("headers", "steelyard_message"), 3), channel) is None


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    CHANGES,
    ids=[f"{'.'.join(place)}-{number}" for number, (place, *_) in enumerate(CHANGES)],
)
def test_others_are_not(place, value, reason, channel):
    assert told(changed(place, value), channel) == reason


def test_a_time_limit_without_end_is_none(channel):
    """RabbitMQ itself refuses such a number, and Redis hands on whatever it is given."""
    for limits in ([float("inf"), None], [None, float("nan")]):
        assert told(changed(("headers", "timelimit"), limits), channel) == "wrong"


@pytest.mark.parametrize(
    "payload", [None, [], 5, "x", {}, {"properties": 7}, {**GOOD, "body": 5}, {**GOOD, "body": "a"}]
)
def test_what_is_no_message_is_unreadable(payload, channel):
    message = Message(payload, channel=channel)
    assert message.content_type == UNREADABLE_TYPE
    assert find_fault(message) == Fault("unreadable", "it cannot be parsed")


def test_nothing_of_a_message_is_disclosed(channel):
    for place, value, _ in CHANGES:
        fault = find_fault(Message(changed(place, value), channel=channel))
        assert "soon" not in fault.description
        assert "no_such_task" not in fault.description
        assert len(fault.description) < 100


def test_a_channel_keeps_its_messages():
    assert Channel.Message is Message
    assert len(RAW) > 15


@pytest.mark.parametrize(
    ("scheme", "base"),
    [
        ("redis", kombu_redis.Transport),
        ("rediss", kombu_redis.Transport),
        ("amqp", pyamqp.Transport),
        ("pyamqp", pyamqp.Transport),
        ("amqps", pyamqp.SSLTransport),
    ],
)
def test_invalid_messages_are_tolerated_from_every_broker_with_tls_and_without(scheme, base, monkeypatch):
    monkeypatch.setattr(kombu.transport, "TRANSPORT_ALIASES", dict(kombu.transport.TRANSPORT_ALIASES))
    for module in (redis_transport, amqp_transport):
        monkeypatch.setattr(module, "TRANSPORT_ALIASES", kombu.transport.TRANSPORT_ALIASES)
        module.install_transport()
    found = kombu.transport.resolve_transport(scheme)
    assert issubclass(found, base)
    ours = redis_transport if "redis" in scheme else amqp_transport
    channel = found.Channel if ours is redis_transport else found.Connection.Channel
    assert channel.Message is ours.Message


def test_a_client_is_kept_as_long_as_the_channel_has_its_connections(monkeypatch):
    """After a broken connection the channel has others; what it sent by those that are gone would be lost."""

    def create(channel, asynchronous=False):
        return SimpleNamespace(connection_pool=channel.pool, asynchronous=asynchronous)

    monkeypatch.setattr(kombu_redis.Channel, "_create_client", create)
    channel = object.__new__(Channel)
    channel._pool = first = object()
    kept = channel._create_client()
    assert channel._create_client() is kept
    assert kept.connection_pool is first
    receiving = channel._create_client(asynchronous=True)
    assert receiving.asynchronous
    assert receiving is not kept
    assert channel._create_client() is kept, "what receives has a client of its own"
    channel._pool = second = object()
    other = channel._create_client()
    assert other.connection_pool is second
    assert channel._create_client() is other
