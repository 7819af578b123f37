"""Statistics of columns that no texts are read for: copied from imported scores, instead of computed by shards.

An output without imported scores, and AutoRank, which follows from other columns, get statistics without any score: so
they are undefined, never 0, and everything else is as for any metric.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlalchemy import Connection, delete, insert, select

from models.corpus.protocols import ProtocolContent
from models.queue.missing_blocks import all_blocks
from models.schema.corpus import Submission
from models.schema.imported import ImportedScore, ScoreImport
from models.schema.queue import Evaluation
from models.schema.results import Statistics
from models.storage.arrays import pack
from steelyard.errors import MetricsError
from steelyard.metrics.metric import Metric
from steelyard.metrics.registry import parse_metric


def give_statistics(connection: Connection, protocol: ProtocolContent, evaluations: Sequence[int]) -> bool:
    """Write the statistics of the protocol's columns without texts; whether it has any.

    Those that are there already are replaced: scores may have been imported since.
    """
    given = {position: metric for position, text in enumerate(protocol.metrics) if (metric := _column(text))}
    if not given or not evaluations:
        return False
    connection.execute(
        delete(Statistics).where(Statistics.evaluation_id.in_(evaluations), Statistics.metric.in_(given))
    )
    ((first, last),) = all_blocks(protocol)
    for position, metric in given.items():
        none = pack(np.zeros((protocol.segments, len(metric.columns))))
        scores = _imported(connection, protocol.metrics[position], evaluations)
        rows = [
            {
                "evaluation_id": evaluation,
                "metric": position,
                "first_block": first,
                "last_block": last,
                "blob": scores.get(evaluation, none),
            }
            for evaluation in evaluations
        ]
        connection.execute(insert(Statistics), rows)
    return True


def _column(specification: str) -> Metric | None:
    try:
        metric = parse_metric(specification)
    except MetricsError:
        # Not installed here; another release may know it.
        return None
    return None if metric.reads_texts else metric


def _imported(connection: Connection, specification: str, evaluations: Sequence[int]) -> dict[int, bytes]:
    rows = connection.execute(
        select(Evaluation.id, ImportedScore.blob)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(
            ScoreImport,
            (ScoreImport.campaign_id == Submission.campaign_id) & (ScoreImport.test_set_id == Submission.test_set_id),
        )
        .join(
            ImportedScore,
            (ImportedScore.import_id == ScoreImport.id) & (ImportedScore.submission_id == Submission.id),
        )
        .where(Evaluation.id.in_(evaluations), ScoreImport.specification == specification)
    )
    return {row.id: row.blob for row in rows}
