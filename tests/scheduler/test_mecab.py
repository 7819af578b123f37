"""Metrics on words of MeCab through the queue, in real worker processes."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import select

from models.database.session import reading
from models.schema.queue import Evaluation, Shard
from models.schema.results import Score
from models.storage.arrays import unpack
from scheduler.embedded.processes import Embedded
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import asked_metrics
from steelyard.metrics.resolution import resolve
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.library.target_languages import JAPANESE
from tests.scheduler.jobs import one_block_shards, run_until_done

# From Python 3.12 on; the pool of the embedded worker is forked from a thread by design.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

TEXTS = {name: "\n".join(lines * 40).encode() for name, lines in (JAPANESE.references | JAPANESE.systems).items()}
METRICS = resolve(asked_metrics(["bleu", "nist", "wer:case=lc"]), RunContext("ja"))[0]


def run(settings, metrics):
    with Embedded(settings, concurrency=2) as embedded:
        queued = ingest_campaign(
            embedded.engine,
            settings,
            campaign="trial",
            test_set=NewTestSet("trial", {"A": TEXTS["A"]}, target_language="ja"),
            submissions=[NewSubmission(name, TEXTS[name]) for name in ("S", "T")],
            protocols=[NewProtocol(["A"], [each], 20) for each in metrics],
        )
        run_until_done(embedded, queued.all_evaluations)
        embedded.finish()
        with reading(embedded.engine) as connection:
            scores = connection.execute(select(Score).order_by(Score.evaluation_id)).all()
            ended = connection.execute(select(Evaluation).order_by(Evaluation.id)).all()
            attempts = connection.scalars(select(Shard.attempts)).all()
    return scores, ended, attempts


def test_workers_give_the_same_bits(database_url):
    scores, _, _ = run(one_block_shards(database_url), METRICS)
    expected = score_systems(
        Segments(references=[TEXTS["A"]], hypotheses=[TEXTS["S"], TEXTS["T"]]), METRICS, replicates=20
    )
    assert [row.specification for row in scores] == [each.specification for each in METRICS for _ in "ST"]
    for place, row in enumerate(scores):
        found, system = expected[place // 2], place % 2
        assert row.score == found.scores[system]
        assert np.array_equal(unpack(row.replicate_scores)[:, 0], found.replicate_scores[system])


def test_a_worker_with_another_dictionary_says_so_and_does_the_rest(database_url):
    """As a worker that lacks word vectors: it tries again, since somebody may be installing them, and then fails."""
    bleu, *_, wer = METRICS
    other = type(bleu)(tok=bleu.tok.replace("dic-", "dic-0."))
    scores, ended, attempts = run(one_block_shards(database_url, max_attempts=2, retry_seconds=0.05), [other, wer])
    assert [row.state for row in ended] == ["failed", "failed", "done", "done"]
    for row in ended[:2]:
        assert f"{other.tok} is asked for, but {bleu.tok} is installed here" in row.reason
    assert max(attempts) == 2
    assert {row.specification for row in scores} == {wer.specification}
