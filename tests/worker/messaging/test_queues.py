"""The lengths of the broker's queues."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from amqp.exceptions import NotFound as NoQueue
from kombu.exceptions import OperationalError

from models.schema.states import QueueClass
from steelyard.metrics.metric import EDITION
from worker.errors import BrokerAway
from worker.messaging.queues import count_messages, make_queue


class Broker:
    """A connection to a broker that has some queues, and may be away; each of its channels counts one queue."""

    connection_errors: tuple[type[Exception], ...] = (ConnectionError,)
    channel_errors: tuple[type[Exception], ...] = (NoQueue,)

    def __init__(self, lengths: dict[str, int], error: Exception | None = None) -> None:
        self.lengths, self.error = lengths, error

    @contextmanager
    def connection_for_write(self) -> Iterator[Broker]:
        yield self

    @contextmanager
    def channel(self) -> Iterator[Broker]:
        yield self

    def ensure_connection(self, **_: Any) -> None:
        if self.error is not None:
            raise self.error

    def queue_declare(self, queue: str, *, passive: bool) -> Any:
        assert passive, "nothing is made by asking"
        if queue not in self.lengths:
            raise NoQueue
        return SimpleNamespace(message_count=self.lengths[queue])


def test_a_queue_that_nobody_has_made_is_empty() -> None:
    """A worker would take itself for deaf otherwise, and end."""
    lengths = {QueueClass.NIGHTLY.queue_of(EDITION): 3, QueueClass.INTERACTIVE.queue_of(EDITION): 0}
    assert count_messages(Broker(lengths), QueueClass) == {
        QueueClass.INTERACTIVE: 0, QueueClass.CAMPAIGN: 0, QueueClass.NIGHTLY: 3,
    }  # fmt: skip
    assert count_messages(Broker(lengths), [QueueClass.NIGHTLY]) == {QueueClass.NIGHTLY: 3}


@pytest.mark.parametrize("error", [ConnectionError("gone"), OperationalError("gone")])
def test_of_a_broker_that_is_away_nothing_is_known(error: Exception) -> None:
    with pytest.raises(BrokerAway, match="gone"):
        count_messages(Broker({}, error), QueueClass)


def test_only_redis_forgets_a_message_when_it_delivers_it() -> None:
    for redis in (True, False):
        queue = make_queue(QueueClass.CAMPAIGN, redis)
        assert (queue.no_ack, queue.name, queue.routing_key) == (redis, *[QueueClass.CAMPAIGN.queue_of(EDITION)] * 2)
