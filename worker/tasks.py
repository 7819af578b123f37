"""The tasks: id in, row out. Delivered twice, late or out of order, they write once."""

from __future__ import annotations

import logging
from typing import Any

from models.queue.lease import withdraw
from models.schema.queue import Leased, Preparation, Reduction, Shard, Trials
from worker.context import Station

SCORE_SHARD = "score_shard"
REDUCE = "reduce"
PREPARE = "prepare"
RANDOMIZE = "randomize"
WAKE = "wake"

TABLES: dict[str, type[Leased]] = {
    SCORE_SHARD: Shard,
    REDUCE: Reduction,
    PREPARE: Preparation,
    RANDOMIZE: Trials,
}
"""What the number in a message is the id of."""

HINT_HEADER = "steelyard_hint"
HINT_VERSION = 1
"""What a message says, and how; raised when workers of the release before would get it wrong. Without it: 1."""

log = logging.getLogger(__name__)


def register_tasks(app: Any, station: Station) -> None:
    """Teach a Celery app its tasks."""

    # The names are spelled out: a task named by its module would strand messages in flight when
    # the module is renamed. Numeric code is imported where it is used, for the sake of senders.
    def score_shard(self: Any, shard_id: int) -> None:
        """Store the statistics of one shard, and reduce what became complete with it."""
        from worker.handlers import do_shard

        if heeds(station, self, shard_id):
            do_shard(station, shard_id, self.request.id)

    def reduce(self: Any, reduction_id: int) -> None:
        """Store the scores of evaluations whose shards are all done."""
        from worker.handlers import do_reduction

        if heeds(station, self, reduction_id):
            do_reduction(station, reduction_id, self.request.id)

    def prepare(self: Any, preparation_id: int) -> None:
        """Store what was counted in a part of the references, and merge it when it was the last part."""
        from worker.handlers import do_preparation

        if heeds(station, self, preparation_id):
            do_preparation(station, preparation_id, self.request.id)

    def randomize(self: Any, trials_id: int) -> None:
        """Store how many of some trials were as large, and the tests when they were the last ones."""
        from worker.handlers import do_trials

        if heeds(station, self, trials_id):
            do_trials(station, trials_id, self.request.id)

    def wake() -> None:
        """Nothing: it makes a worker that waits for messages look up."""

    # Shared tasks would go to every app of the process, with the station of the first.
    app.task(score_shard, name=SCORE_SHARD, bind=True, shared=False)
    app.task(reduce, name=REDUCE, bind=True, shared=False)
    app.task(prepare, name=PREPARE, bind=True, shared=False)
    app.task(randomize, name=RANDOMIZE, bind=True, shared=False)
    app.task(wake, name=WAKE, shared=False)


def heeds(station: Station, task: Any, key: int) -> bool:
    """Whether to do what a message says: not if it is of a newer release, nor where this worker is about to end."""
    version = int((task.request.headers or {}).get(HINT_HEADER, 1))
    if version > HINT_VERSION:
        log.warning(
            "A message for %s %s is dropped: it has version %s, and this release reads %s. It will be sent again.",
            task.name, key, version, HINT_VERSION,
        )  # fmt: skip
        return False
    if station.leaving.heard:
        with station.outlived(f"{task.name} {key}"):
            station.write(lambda connection: withdraw(connection, TABLES[task.name], [key]))
        return False
    return True
