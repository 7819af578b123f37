"""The broker's queues for this release's edition, and their lengths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kombu.entity import Exchange, Queue
from kombu.exceptions import ChannelError, OperationalError

from models.schema.states import QueueClass
from steelyard.metrics.metric import EDITION
from worker.errors import BrokerAway


def make_queue(queue_class: QueueClass, redis: bool) -> Any:
    """The queue of a class, for a Celery app."""
    name = queue_class.queue_of(EDITION)
    # On Redis, unacknowledged messages would be recorded for each delivery, and a worker would fail if memory ran out.
    # Lost messages are sent again anyway.
    return Queue(name, Exchange(name), name, no_ack=redis)  # type: ignore[no-untyped-call]


def count_messages(app: Any, classes: Iterable[QueueClass]) -> dict[QueueClass, int]:
    """The number of waiting messages of each of the classes, through a separate connection.

    Raises
    ------
    BrokerAway
        If the broker cannot be reached.
    """
    with app.connection_for_write() as connection:
        try:
            connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0)
            return {queue_class: _count(connection, queue_class) for queue_class in classes}
        except (OperationalError, *connection.connection_errors, *connection.channel_errors) as error:
            raise BrokerAway(f"The broker cannot be asked for its queues: {error}") from error


def _count(connection: Any, queue_class: QueueClass) -> int:
    # One channel each: an AMQP broker closes it if the queue does not exist.
    with connection.channel() as channel:
        try:
            return int(channel.queue_declare(queue_class.queue_of(EDITION), passive=True).message_count)
        except ChannelError:
            return 0
