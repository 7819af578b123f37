"""A column of a metrics task whose leaderboard or judgments are gone when a worker gets to it."""

import dataclasses

import numpy as np
import pytest
from sqlalchemy import select

from analysis.meta_evaluation.metrics_task_parts import compare_metrics, unpack_result
from models.corpus.judgments import NewJudgments, SegmentRow, store_judgments
from models.database.session import make_engine, writing
from models.errors import NotFound
from models.queue.kinds.metrics_task_parts import ClaimedPart
from models.schema.campaigns import CampaignTestSet
from models.schema.states import JudgmentKind
from tests.analysis.campaigns import SYSTEMS, opened, store
from tests.scheduler.jobs import one_block_shards
from worker.context import WorkerContext


def test_it_is_compared_or_refused_with_the_reason(sqlite_url: str) -> None:
    store(sqlite_url)
    with opened(sqlite_url) as (_, (board,)):
        listed = board.listed
    with writing(make_engine(sqlite_url)) as connection:
        test_set = connection.scalars(select(CampaignTestSet.test_set_id)).one()
        rows = [
            SegmentRow(system, segment, score, score, 1)
            for place, system in enumerate(SYSTEMS)
            for segment, score in enumerate((90.0 - 20 * place, 60.0, 30.0 + place, 10.0, 5.0))
        ]
        new = NewJudgments("esa", JudgmentKind.SCORES, {}, [], rows)
        judgments, _ = store_judgments(connection, listed.campaign_id, test_set, new)
    values = {"campaign_id": listed.campaign_id, "protocol_id": listed.protocol_id, "judgments_id": judgments.id}
    identity = {field.name: 1 for field in dataclasses.fields(ClaimedPart)}
    claim = ClaimedPart(**{**identity, **values, "pair": "en-cs", "statistic": "soft-pairwise"})
    context = WorkerContext(one_block_shards(sqlite_url))
    found, titles = unpack_result(compare_metrics(context, claim, lambda: None).result)
    assert (found.task.pair, found.task.systems, found.task.segments) == ("en-cs", 3, 5)
    assert list(titles.values()) == ["BLEU[1-2]", "TER"]
    assert np.isfinite(found.values).all()
    # Another campaign may be measured by the same protocol.
    for gone in ("campaign_id", "protocol_id", "judgments_id"):
        with pytest.raises(NotFound, match=r"^The leaderboard or the judgments were deleted meanwhile\.$"):
            compare_metrics(context, dataclasses.replace(claim, **{gone: 999}), lambda: None)
    context.close()
