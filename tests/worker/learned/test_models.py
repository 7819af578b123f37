"""BERTScore and COMET on the learned queue: the same bits as in one process, and no model for what is stored."""

from __future__ import annotations

from sqlalchemy import func, select

from models.database.session import reading
from models.schema.learned import SegmentScore
from models.schema.queue import CorpusCount
from models.schema.results import Score
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.library.metrics.learned.with_extra import GOLDEN, needs_extra
from tests.scheduler.jobs import one_block_shards, similar_text, some_text, work_off
from tests.worker.learned.test_columns import learn
from worker.context import WorkerContext
from worker.learned.running import LearnedWorker

SEGMENTS = 60
SOURCE, REFERENCE = some_text(SEGMENTS, 1), some_text(SEGMENTS, 2)
OUTPUTS = [similar_text(REFERENCE, number) for number in (3, 4)]


@needs_extra
def test_models_score_on_the_queue_as_in_one_process(sqlite_url, tmp_path, monkeypatch):
    resources = Resources(tmp_path / "resources")
    for folder in ("bertscore-bert", "comet-regression"):
        resources.register(folder, "model", GOLDEN / folder)
    asked = [
        "bleu",
        "bertscore:model=bertscore-bert:layer=1",
        "bertscore:model=bertscore-bert:layer=1:idf=yes",
        "comet:model=comet-regression",
    ]
    metrics, _ = resolve([parse_metric(each) for each in asked], RunContext("en", frozenset(), resources))
    context = WorkerContext(one_block_shards(sqlite_url, resource_folder=resources.folder))

    def ingest(campaign, outputs):
        return ingest_campaign(
            context.engine,
            context.settings,
            campaign=campaign,
            test_set=NewTestSet(campaign, {"A": REFERENCE}, source=SOURCE),
            submissions=[NewSubmission(f"system{number}", text) for number, text in enumerate(outputs)],
            protocols=[NewProtocol(["A"], metrics, 5)],
        ).all_evaluations

    evaluations = ingest("first", OUTPUTS)
    with reading(context.engine) as connection:
        # Ordinary workers need no model to count tokens in references.
        assert not connection.scalar(select(func.count()).select_from(CorpusCount))
    work_off(context.settings)
    worker = LearnedWorker(context.settings, "cpu")
    assert all(worker._can_score(metric.specification) for metric in metrics[1:])
    learn(context)
    expected = score_systems(
        Segments(references=[REFERENCE], hypotheses=OUTPUTS, source=SOURCE), metrics, resources=resources
    )
    with reading(context.engine) as connection:
        rows = connection.execute(select(Score).where(Score.evaluation_id.in_(evaluations))).all()
        before = len(connection.execute(select(SegmentScore.content_hash)).all())
    found = {(row.evaluation_id, row.metric): row.score for row in rows}
    for metric, result in enumerate(expected):
        assert [found[each, metric] for each in evaluations] == result.scores.tolist()

    # The lines of both outputs in one: nothing is new to a model, and none is opened.
    lines = [text.split(b"\n") for text in OUTPUTS]
    mixed = b"\n".join(pair[number % 2] for number, pair in enumerate(zip(*lines, strict=True)))
    for metric in metrics[1:]:
        monkeypatch.setattr(type(metric), "opened", None)
    again = ingest("again", [mixed])
    learn(context)
    work_off(context.settings)
    with reading(context.engine) as connection:
        assert None not in list(connection.scalars(select(Score.score).where(Score.evaluation_id.in_(again))))
        assert len(connection.execute(select(SegmentScore.content_hash)).all()) == before


def test_a_worker_without_the_model_or_of_another_device_cannot_score(sqlite_url, tmp_path):
    worker = LearnedWorker(one_block_shards(sqlite_url, resource_folder=tmp_path), "cpu")
    for specification in (
        "comet:model=gone@0123456789ab:engine=onnxruntime-1.0:device=cpu-avx2",
        "program:run=gone@0123456789ab",
        "no_such_metric",
    ):
        assert not worker._can_score(specification)
