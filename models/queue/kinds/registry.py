"""All kinds of leased tasks: who sends, sweeps, counts, shows or deletes tasks goes through these."""

from __future__ import annotations

from typing import Any

from models.queue.kinds.comparisons import TRIALS
from models.queue.kinds.corpus_statistics import PREPARATION
from models.queue.kinds.deliveries import DELIVERY
from models.queue.kinds.night_steps import NIGHT_STEP
from models.queue.kinds.reductions import REDUCTION
from models.queue.kinds.shards import SHARD
from models.queue.task_kind import TaskKind

KINDS: tuple[TaskKind[Any, Any], ...] = (PREPARATION, SHARD, REDUCTION, TRIALS, NIGHT_STEP, DELIVERY)
"""In the order in which an evaluation needs them."""

SENT = tuple(kind for kind in KINDS if kind.message is not None)
"""Those that workers do."""

BY_MESSAGE = {str(kind.message): kind for kind in SENT}
"""The kind of task that a message of this name tells of."""
