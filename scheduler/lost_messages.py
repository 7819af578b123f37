"""What the broker has lost: where its queues are empty, the hints that nobody has acted on are gone."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Engine

from metrics.base import EDITION
from models.database.session import reading, writing
from models.queue.kinds import RELEASES
from models.queue.lease import forget_old_hints, unanswered
from models.queue.workers import processes
from models.schema.states import QueueClass
from runtime.settings import Settings
from worker.errors import BrokerAway
from worker.messaging.queues import count_messages

log = logging.getLogger(__name__)


def forget_lost_hints(engine: Engine, app: Any, settings: Settings) -> int:
    """Put rows back whose hints went with all others of their queue, so that they are sent again; how many.

    Only of this release's edition: hints of others go to other queues, and wait for their hint time. A hint may still
    be in the hands of a worker. Then it is sent twice, which does no harm.
    """
    waiting = Counter[int]()
    with reading(engine) as connection:
        for table in RELEASES:
            waiting.update(unanswered(connection, table, settings.empty_seconds, EDITION))
        # Workers that take messages ahead of time have at most one for each process.
        ahead = 0 if app.conf.worker_disable_prefetch else processes(connection, settings.silent_seconds)
    suspected = [QueueClass(queue_class) for queue_class, amount in waiting.items() if amount > ahead]
    empty = empty_queues(app, suspected) if suspected else []
    if not empty:
        return 0
    with writing(engine) as connection:
        lost = sum(forget_old_hints(connection, table, settings.empty_seconds, empty, EDITION) for table in RELEASES)
    if lost:
        log.warning("The broker has lost %d hints: its queues are empty. They are sent again.", lost)
    return lost


def empty_queues(app: Any, classes: Iterable[QueueClass]) -> list[QueueClass]:
    """Those of the classes whose queue holds no message; none of them when the broker cannot be asked."""
    try:
        return [queue_class for queue_class, messages in count_messages(app, classes).items() if not messages]
    except BrokerAway as error:
        log.warning("%s", error)
        return []
