"""Columns of metrics tasks: the metrics of one leaderboard beside judgments, compared by one statistic."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import select

from analysis.leaderboard.board import read_board
from analysis.meta_evaluation.metrics_and_human import read_judged
from models.errors import BadBlob, NotFound
from models.queue.task_kind import Outcome
from models.results.boards import list_boards
from models.schema.human import Judgments
from steelyard.meta_evaluation.metrics_task import TRIALS
from steelyard.meta_evaluation.task_results import Task, TaskResult, compare_in_task

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from models.queue.kinds.metrics_task_parts import ClaimedPart
    from steelyard.meta_evaluation.judged_scores import JudgedScores
    from worker.context import WorkerContext

SEED = 12345
LEVEL = 0.95
_LENGTH = 8
"""Bytes that say how long the head is."""


def compare_metrics(context: WorkerContext, claim: ClaimedPart, _preempt: Callable[[], None]) -> Outcome[bytes]:
    """Compute a column, packed as `unpack_result` reads it."""

    def read(connection: Connection) -> JudgedScores | None:
        listed = list_boards(connection, protocols=[claim.protocol_id], campaign_id=claim.campaign_id)
        judgments = connection.execute(
            select(Judgments.name, Judgments.version).where(Judgments.id == claim.judgments_id)
        ).one_or_none()
        board = read_board(connection, listed[0], LEVEL) if listed else None
        if board is None or judgments is None:
            return None
        return read_judged(connection, board, f"{judgments.name}@{judgments.version}")

    judged = context.read(read)
    if judged is None:
        raise NotFound("The leaderboard or the judgments were deleted meanwhile.")
    found = compare_in_task(judged, claim.pair, claim.statistic, trials=TRIALS, seed=SEED)
    titles = {metric.specification: metric.title for metric in judged.metrics}
    return Outcome(pack_result(found, titles))


def pack_result(found: TaskResult, titles: dict[str, str]) -> bytes:
    """The bytes of a result, and the titles of its metrics by their specifications: a head in JSON, then numbers."""
    head = {
        "pair": found.task.pair, "statistic": found.task.statistic, "systems": found.task.systems,
        "segments": found.task.segments, "metrics": list(found.metrics), "titles": titles,
    }  # fmt: skip
    text = json.dumps(head).encode()
    numbers = np.concatenate([found.values, found.differences, found.by_chance.ravel()]).astype("<f8")
    return len(text).to_bytes(_LENGTH, "little") + text + numbers.tobytes()


def unpack_result(blob: bytes) -> tuple[TaskResult, dict[str, str]]:
    """A result and the titles of its metrics.

    Raises
    ------
    BadBlob
        If it is damaged.
    """
    stream = io.BytesIO(blob)
    try:
        head = json.loads(stream.read(int.from_bytes(stream.read(_LENGTH), "little")))
        numbers = np.frombuffer(stream.read(), "<f8").astype(np.float64)
        metrics, titles = tuple(map(str, head["metrics"])), {str(k): str(v) for k, v in head["titles"].items()}
        task = Task(str(head["pair"]), str(head["statistic"]), int(head["systems"]), int(head["segments"]))
        pairs = len(metrics) * (len(metrics) - 1) // 2
        values, differences, by_chance = np.split(numbers, [len(metrics), len(metrics) + pairs])
        by_chance = by_chance.reshape(pairs, TRIALS)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadBlob("A stored column of a metrics task is damaged.") from error
    return TaskResult(task, metrics, values, differences, by_chance), titles
