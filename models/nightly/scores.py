"""Scores for judging nightly runs, with or without replicates."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from models.schema.corpus import Submission, System
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.storage.arrays import unpack

CHUNK = 500
"""Evaluations per query: databases limit the parameters of a statement."""


@dataclass(frozen=True, slots=True, eq=False)
class NightlyScore:
    """The score of one evaluation by one metric."""

    specification: str
    title: str
    signature: str
    higher_is_better: bool
    scale: float
    score: float | None
    """None where the metric is undefined."""
    replicate_scores: NDArray[np.float64]
    """(replicates,), NaN where undefined; empty if not requested."""


def read_nightly_scores(
    connection: Connection, evaluations: Collection[int], *, metric: int | None = None, replicates: bool = True
) -> dict[tuple[int, int], NightlyScore]:
    """The scores of evaluations: (evaluation, position of the metric) -> score; optionally by one `metric` only.

    Evaluations that are not done have none. Without `replicates`, these are not read.
    """
    columns = (*(Score.evaluation_id, Score.metric, Score.specification, Score.title, Score.signature),
               *(Score.higher_is_better, Score.scale, Score.score))  # fmt: skip
    found = {}
    wanted = sorted(set(evaluations))
    for begin in range(0, len(wanted), CHUNK):
        asked = select(*columns, *([Score.replicate_scores] if replicates else []))
        asked = asked.where(Score.evaluation_id.in_(wanted[begin : begin + CHUNK]))
        if metric is not None:
            asked = asked.where(Score.metric == metric)
        for row in connection.execute(asked):
            found[row.evaluation_id, row.metric] = NightlyScore(
                specification=row.specification,
                title=row.title,
                signature=row.signature,
                higher_is_better=row.higher_is_better,
                scale=row.scale,
                score=row.score,
                replicate_scores=unpack(row.replicate_scores, columns=1)[:, 0] if replicates else np.empty(0),
            )
    return found


@dataclass(frozen=True, slots=True)
class MeasuredOutput:
    """The output of an evaluation, and its edition of the numbers."""

    edition: int
    text_id: int
    """The id of the output's text; outputs with equal ids are identical."""


def read_measured_outputs(connection: Connection, evaluations: Collection[int]) -> dict[int, MeasuredOutput]:
    """Evaluation -> edition and output."""
    found = {}
    wanted = sorted(set(evaluations))
    for begin in range(0, len(wanted), CHUNK):
        rows = connection.execute(
            select(Evaluation.id, Evaluation.edition, Submission.text_id)
            .join(Submission, Submission.id == Evaluation.submission_id)
            .where(Evaluation.id.in_(wanted[begin : begin + CHUNK]))
        )
        found.update({row.id: MeasuredOutput(row.edition, row.text_id) for row in rows})
    return found


def latest_evaluation(connection: Connection, campaign_id: int, protocol_id: int, system: str) -> int | None:
    """The last scored evaluation by this protocol of a system with this name in the campaign; None without one."""
    return connection.scalar(
        select(Evaluation.id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(System, System.id == Submission.system_id)
        .join(Score, Score.evaluation_id == Evaluation.id)
        .where(
            Evaluation.protocol_id == protocol_id, Submission.campaign_id == campaign_id, System.name == system
        )
        .order_by(Evaluation.id.desc())
        .limit(1)
    )  # fmt: skip
