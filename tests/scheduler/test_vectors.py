"""Metrics with word vectors through the queue, in real worker processes."""

from __future__ import annotations

import shutil
import threading

import numpy as np
import pytest
from sqlalchemy import func, select

from models.database.session import reading
from models.schema.queue import Evaluation, Shard
from models.schema.results import Score
from models.storage.arrays import unpack
from scheduler.embedded.processes import Embedded
from steelyard.metrics.embeddings.vectors import store
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.faults.cluster import until
from tests.scheduler.jobs import WORDS, one_block_shards, queue_job, run_until_done, similar_text, some_text

# From Python 3.12 on; the pool of the embedded worker is forked from a thread by design.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

METRICS = ("bleu_modif:vectors=toy", "wer_modif:vectors=toy", "bleu_modif:vectors=toy:gamma=0.5", "wer")


@pytest.fixture
def resources(tmp_path):
    """Vectors for most of the words that jobs are made of, registered as toy."""
    numbers = np.random.default_rng(1).standard_normal((len(WORDS), 30)).astype(np.float32)
    (tmp_path / "new").mkdir()
    entries = zip((word.encode() for word in WORDS[3:]), numbers, strict=False)
    store(entries, tmp_path / "new", "test", {})
    found = Resources(tmp_path / "store")
    found.register("toy", "vectors", tmp_path / "new")
    return found


def settled(resources):
    return resolve([parse_metric(each) for each in METRICS], RunContext(resources=resources))[0]


def run(settings, metrics, **job):
    """The stored scores and the evaluations at the end of the run."""
    with Embedded(settings, concurrency=2) as embedded:
        queued = queue_job(embedded.engine, settings, metrics=[each.specification for each in metrics], **job)
        run_until_done(embedded, queued.all_evaluations)
        embedded.finish()
        with reading(embedded.engine) as connection:
            scores = connection.execute(select(Score).order_by(Score.evaluation_id, Score.metric)).all()
            evaluations = connection.execute(select(Evaluation).order_by(Evaluation.id)).all()
    return scores, evaluations


def test_workers_find_what_is_registered_and_give_the_same_bits(database_url, resources):
    settings = one_block_shards(database_url, resource_folder=resources.folder)
    metrics = settled(resources)
    scores, _ = run(settings, metrics, segments=700, systems=3)
    reference = some_text(700, 1)
    systems = [similar_text(reference, 1000 + number) for number in range(3)]
    expected = score_systems(
        Segments(references=[reference], hypotheses=systems), metrics, replicates=50, seed=12345, resources=resources
    )
    assert len(scores) == 12
    for row in scores:
        measured, system = expected[row.metric], row.evaluation_id - scores[0].evaluation_id
        assert row.score == measured.scores[system]
        assert np.array_equal(unpack(row.sums)[0], measured.sums[system])
        assert np.array_equal(unpack(row.replicate_scores)[:, 0], measured.replicate_scores[system])
        assert row.details == measured.metric.details(measured.sums[system])
    by_vectors = [row for row in scores if "_modif" in row.specification]
    assert len(by_vectors) == 9
    for row in by_vectors:
        assert resources.pinned("toy", "vectors") in row.signature
        assert 0 < row.details["unknown words"] < 100


def test_a_worker_without_the_vectors_fails_and_says_why(database_url, resources, tmp_path):
    metrics = settled(resources)
    settings = one_block_shards(database_url, resource_folder=tmp_path / "elsewhere", max_attempts=2)
    scores, evaluations = run(settings, metrics, segments=300, systems=2)
    assert scores == []
    assert len(evaluations) == 2
    for evaluation in evaluations:
        assert evaluation.state == "failed"
        assert resources.pinned("toy", "vectors") in evaluation.reason
        assert "STEELYARD_RESOURCE_FOLDER" in evaluation.reason


def test_vectors_that_arrive_before_the_last_attempt_are_found(database_url, resources, tmp_path):
    """Missing is not for good: somebody may be copying them."""
    elsewhere = tmp_path / "elsewhere"
    settings = one_block_shards(database_url, resource_folder=elsewhere, max_attempts=50, retry_seconds=0.05)
    metrics = settled(resources)

    def most_attempts():
        with reading(embedded.engine) as connection:
            return connection.scalar(select(func.max(Shard.attempts))) or 0

    def copy():
        until(lambda: most_attempts() > 1, "a second attempt")
        shutil.copytree(resources.folder, elsewhere)

    later = threading.Thread(target=copy)
    with Embedded(settings, concurrency=2) as embedded:
        queued = queue_job(embedded.engine, settings, metrics=[each.specification for each in metrics], segments=300)
        later.start()
        last = run_until_done(embedded, queued.all_evaluations)
        later.join()
        embedded.finish()
        assert most_attempts() > 1
    assert (last.done, last.failed) == (3, 0)


def test_a_word2vec_file_that_was_registered_as_it_is_is_converted_once(database_url, resources, tmp_path):
    """The workers convert it into the store, for all of them."""
    path = tmp_path / "toy.vec"
    path.write_text("2 2\nthe 1 0\na 0.6 0.8\n")
    resources.register("toy", "vectors", path)
    metrics = settled(resources)
    settings = one_block_shards(database_url, resource_folder=resources.folder)
    scores, _ = run(settings, metrics, segments=600, systems=2)
    assert len(scores) == 8
    reference = some_text(600, 1)
    expected = score_systems(
        Segments(references=[reference], hypotheses=[similar_text(reference, 1000)]), metrics, resources=resources
    )
    assert [row.score for row in scores[:4]] == [each.scores[0] for each in expected]
    assert len(list((resources.folder / ".vectors-nfc").iterdir())) == 1
