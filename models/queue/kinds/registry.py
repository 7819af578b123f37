"""All kinds of leased tasks: sending, sweeping, counting, showing and deleting tasks goes through this list."""

from __future__ import annotations

from typing import Any

from models.queue.kinds.comparisons import TRIALS
from models.queue.kinds.corpus_statistics import CORPUS_COUNT
from models.queue.kinds.deliveries import DELIVERY
from models.queue.kinds.learned_shards import LEARNED_SHARD
from models.queue.kinds.metrics_task_parts import METRICS_TASK_PART
from models.queue.kinds.nightly_run_steps import NIGHTLY_STEP
from models.queue.kinds.notice_deliveries import NOTICE_DELIVERY
from models.queue.kinds.reductions import REDUCTION
from models.queue.kinds.shards import SHARD
from models.queue.task_kind import TaskKind

KINDS: tuple[TaskKind[Any, Any], ...] = (
    CORPUS_COUNT,
    SHARD,
    REDUCTION,
    LEARNED_SHARD,
    TRIALS,
    METRICS_TASK_PART,
    NIGHTLY_STEP,
    DELIVERY,
    NOTICE_DELIVERY,
)
"""In the order in which an evaluation needs them."""

SENT = tuple(kind for kind in KINDS if kind.message is not None)
"""The kinds of which messages tell workers."""

IN_WORKERS = tuple(kind for kind in KINDS if kind.run is not None)
"""The kinds that workers run: those, and what learned workers look for themselves."""

BY_MESSAGE = {str(kind.message): kind for kind in SENT}
"""The kind of task by the name of its message."""
