"""What the broker has lost: where its queues are empty, the hints that nobody has acted on are gone."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from sqlalchemy import Engine

from metrics.base import EDITION
from models.database.session import reading, writing
from models.queue.sweep import count_stale_messages, resend_stale
from models.queue.workers import count_processes
from models.schema.states import QueueClass
from runtime.settings import Settings
from worker.errors import BrokerAway
from worker.tasks import Messages

log = logging.getLogger(__name__)


def forget_lost_hints(engine: Engine, messages: Messages, settings: Settings) -> int:
    """Put rows back whose hints went with all others of their queue, so that they are sent again; how many.

    Only of this release's edition: hints of others go to other queues, and wait for their hint time. A hint may still
    be in the hands of a worker. Then it is sent twice, which does no harm.
    """
    with reading(engine) as connection:
        waiting = count_stale_messages(connection, settings.empty_seconds, EDITION)
        # Workers that take messages ahead of time have at most one for each process.
        ahead = count_processes(connection, settings.silent_seconds) if messages.takes_ahead else 0
    suspected = [queue_class for queue_class in QueueClass if waiting[queue_class] > ahead]
    empty = empty_queues(messages, suspected) if suspected else []
    if not empty:
        return 0
    with writing(engine) as connection:
        lost = resend_stale(connection, settings.empty_seconds, empty, EDITION)
    if lost:
        log.warning("The broker has lost %d hints: its queues are empty. They are sent again.", lost)
    return lost


def empty_queues(messages: Messages, classes: Iterable[QueueClass]) -> list[QueueClass]:
    """Those of the classes whose queue holds no message; none of them when the broker cannot be asked."""
    try:
        return [queue_class for queue_class, amount in messages.count(classes).items() if not amount]
    except BrokerAway as error:
        log.warning("%s", error)
        return []
