"""Resampling by document in campaigns: the bits of one process, however the test set is cut into shards."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, delete, insert, select

import worker.computing.reducer
import worker.computing.scoring
from models.corpus.protocols import ProtocolContent, read_protocol
from models.database.session import make_engine, reading, writing
from models.errors import UnreadableRow
from models.queue.kinds.shards import ClaimedShard
from models.results.randomizations import Pair, RandomizationPlan
from models.schema.corpus import Document, Submission
from models.schema.queue import Evaluation
from models.schema.results import ReplicatePart, Score, Statistics
from models.schema.states import QueueClass, ResamplingUnit
from models.storage.arrays import unpack
from scheduler.errors import BadIngest
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resources import Resources
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.documents import Documents
from steelyard.resampling.randomization import permutation_counts
from tests.scheduler.jobs import one_block_shards, queue_job, similar_text, some_text, work_off
from worker.computing.randomization import count_trials
from worker.computing.reducer import reduce_evaluations
from worker.computing.scoring import read_shards, score_texts

SEGMENTS = 256 * 5 + 40
METRICS = ("bleu", "wer")
REPLICATES = 30
LENGTHS = (1, 300, 7, 2, 90, 256)
# Documents end within blocks and span several; one has two pieces, far apart.
NAMES = [
    "twice" if number in (3, 20) else f"d{number}"
    for number, length in enumerate(itertools.chain(LENGTHS, itertools.repeat(31, 30)))
    for _ in range(length)
][:SEGMENTS]
DOCUMENTS = Documents.from_names(NAMES)
REFERENCE = some_text(SEGMENTS, 1)
SYSTEMS = [similar_text(REFERENCE, 1000 + number) for number in range(2)]


def queued(url: str, resample: ResamplingUnit = ResamplingUnit.DOCUMENT) -> list[int]:
    engine = make_engine(url)
    job = queue_job(
        *(engine, one_block_shards(url)),
        segments=SEGMENTS,
        systems=2,
        metrics=METRICS,
        replicates=REPLICATES,
        documents=NAMES,
        resample=resample,
    )
    engine.dispose()
    return job.all_evaluations


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory, sqlite_template) -> Iterator[tuple[Engine, list[int]]]:
    file = tmp_path_factory.mktemp("documents") / "steelyard.db"
    file.write_bytes(sqlite_template.read_bytes())
    evaluations = queued(f"sqlite:///{file}")
    engine = make_engine(f"sqlite:///{file}")
    yield engine, evaluations
    engine.dispose()


@pytest.fixture(scope="module")
def expected() -> list[list[tuple[float, bytes]]]:
    """In one process, in one shard: for each metric and system."""
    found = score_systems(
        Segments(references=[REFERENCE], hypotheses=SYSTEMS),
        [parse_metric(each) for each in METRICS],
        replicates=REPLICATES,
        documents=DOCUMENTS,
    )
    return [[(float(of.scores[n]), of.replicate_scores[n].tobytes()) for n in range(2)] for of in found]


def store(connection, protocol: ProtocolContent, cuts: list[int], evaluation: int, metric: int) -> None:
    """Score the shards between the cuts and store what they leave."""
    of = select(Submission.text_id).join(Evaluation, Evaluation.submission_id == Submission.id)
    text = connection.execute(of.where(Evaluation.id == evaluation)).scalar_one()
    for first, last in itertools.pairwise([0, *cuts, 6]):
        claim = ClaimedShard(0, "o", 1, None, QueueClass.CAMPAIGN, 1, first, last, (evaluation,), (text,), (metric,))
        (shard,) = read_shards(connection, [claim], protocol)
        for row in score_texts(claim, protocol, shard, Resources()):
            key = {"evaluation_id": evaluation, "metric": metric, "first_block": first, "last_block": last}
            connection.execute(insert(Statistics).values(**key, blob=row.statistics))
            if row.replicate_part is not None:
                connection.execute(insert(ReplicatePart).values(**key, blob=row.replicate_part))


@given(
    cuts=st.lists(st.sets(st.integers(1, 5)), min_size=4, max_size=4),
    travelling=st.integers(0, 6),
    product=st.integers(1, 7),
    table=st.sampled_from([1, 1 << 23]),
    counts=st.sampled_from([1, 1 << 26]),
)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_every_cut_gives_the_same_bits(job, expected, cuts, travelling, product, table, counts) -> None:
    """Also where evaluations and metrics were cut differently, whoever makes the replicates."""
    engine, evaluations = job
    with pytest.MonkeyPatch.context() as patch, writing(engine) as connection:
        patch.setattr(worker.computing.scoring, "LARGEST_TRAVELLING", travelling)
        patch.setattr(worker.computing.reducer, "LARGEST_PRODUCT", product)
        patch.setattr(worker.computing.reducer, "LARGEST_TABLE", table)
        patch.setattr(worker.computing.reducer, "LARGEST_COUNTS", counts)
        connection.execute(delete(Statistics))
        connection.execute(delete(ReplicatePart))
        protocol = read_protocol(connection, 1)
        for number, its in enumerate(cuts):
            store(connection, protocol, sorted(its), evaluations[number % 2], number // 2)
        for row in reduce_evaluations(connection, protocol, evaluations):
            found = row["score"], unpack(row["replicate_scores"])[:, 0].tobytes()
            assert found == expected[row["metric"]][evaluations.index(row["evaluation_id"])]
            assert "|resample:document|" in row["signature"]


def test_the_queue_and_the_trials_on_every_database(database_url: str, expected) -> None:
    evaluations = queued(database_url)
    work_off(one_block_shards(database_url))
    engine = make_engine(database_url)
    with reading(engine) as connection:
        rows = connection.execute(select(Score).where(Score.evaluation_id.in_(evaluations))).all()
        protocol_id = connection.scalar(select(Evaluation.protocol_id))
    assert len(rows) == 4
    for row in rows:
        found = row.score, unpack(row.replicate_scores)[:, 0].tobytes()
        assert found == expected[row.metric][evaluations.index(row.evaluation_id)]
    plan = RandomizationPlan(protocol_id, tuple((each,) for each in evaluations), (Pair(0, 0, 1), Pair(1, 0, 1)), 60, 9)
    parts = [count_trials(engine, plan, *trials) for trials in ((0, 25), (25, 60))]
    engine.dispose()
    every = score_systems(
        Segments(references=[REFERENCE], hypotheses=SYSTEMS),
        [parse_metric(each) for each in METRICS],
        keep_statistics=True,
        documents=DOCUMENTS,
    )
    for metric, of in enumerate(every):
        assert of.statistics is not None
        assert of.statistics.shape[1] == DOCUMENTS.count < 60
        trials = {"seed": 9, "first_trial": 0, "last_trial": 60}
        assert sum(parts)[metric] == permutation_counts(of.metric, of.statistics, [(0, 1)], **trials)[0]


def test_segments_are_another_protocol_whose_statistics_are_reused_and_whose_parts_are_not(
    sqlite_url: str, expected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker.computing.scoring, "LARGEST_TRAVELLING", 0)
    by_segment = queued(sqlite_url, ResamplingUnit.SEGMENT)
    work_off(one_block_shards(sqlite_url))
    by_document = queued(sqlite_url)
    assert not set(by_segment) & set(by_document)
    work_off(one_block_shards(sqlite_url))
    engine = make_engine(sqlite_url)
    with reading(engine) as connection:
        rows = connection.execute(select(Score)).all()
        made = set(connection.scalars(select(ReplicatePart.evaluation_id)))
    engine.dispose()
    found = {(row.evaluation_id, row.metric): row for row in rows}
    assert made == set(by_segment)
    for number, (segment, document) in enumerate(zip(by_segment, by_document, strict=True)):
        for metric in range(2):
            one, other = found[segment, metric], found[document, metric]
            assert one.score == other.score
            assert unpack(other.replicate_scores)[:, 0].tobytes() == expected[metric][number][1]
            assert not np.array_equal(unpack(one.replicate_scores), unpack(other.replicate_scores))


def test_documents_must_be_known_and_whole(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    with pytest.raises(BadIngest, match="names no documents"):
        queue_job(engine, one_block_shards(sqlite_url), segments=20, resample=ResamplingUnit.DOCUMENT)
    queue_job(
        *(engine, one_block_shards(sqlite_url)),
        segments=20,
        documents=["a"] * 15 + ["b"] * 5,
        resample=ResamplingUnit.DOCUMENT,
    )
    with writing(engine) as connection:
        connection.execute(delete(Document).where(Document.name == "b"))
        with pytest.raises(UnreadableRow, match="cover 15 of its 20 segments"):
            read_protocol(connection, 1)
    engine.dispose()
