"""Recovery of messages lost by the broker: if its queues are empty, unhandled messages are gone."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from sqlalchemy import Engine

from models.database.session import reading, writing
from models.queue.sweep import count_stale_messages, resend_stale
from models.queue.workers import count_processes
from models.schema.states import QueueClass
from runtime.settings import Settings
from steelyard.metrics.metric import EDITION
from worker.errors import BrokerAway
from worker.tasks import MessageTransport

log = logging.getLogger(__name__)


def recover_lost_messages(engine: Engine, transport: MessageTransport, settings: Settings) -> int:
    """Return enqueued rows to pending if their queue is empty, so that they are sent again; their number.

    Only those of this release's edition: other editions use other queues, and rely on the message timeout. A worker may
    still hold a message; then it is sent twice, which does no harm.
    """
    with reading(engine) as connection:
        waiting = count_stale_messages(connection, settings.empty_seconds, EDITION)
        # Workers that prefetch messages hold at most one per process.
        ahead = count_processes(connection, settings.silent_seconds) if transport.prefetches else 0
    suspected = [queue_class for queue_class in QueueClass if waiting[queue_class] > ahead]
    empty = empty_queues(transport, suspected) if suspected else []
    if not empty:
        return 0
    with writing(engine) as connection:
        lost = resend_stale(connection, settings.empty_seconds, empty, EDITION)
    if lost:
        log.warning("The broker has lost %d messages: its queues are empty. Sending them again.", lost)
    return lost


def empty_queues(transport: MessageTransport, classes: Iterable[QueueClass]) -> list[QueueClass]:
    """The classes with an empty queue; none if the broker cannot be asked."""
    try:
        return [queue_class for queue_class, amount in transport.count(classes).items() if not amount]
    except BrokerAway as error:
        log.warning("%s", error)
        return []
