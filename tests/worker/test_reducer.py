"""Reductions: every way to cut a test set gives the same bits, and gaps are noticed."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine, delete, insert, select

import worker.reducer
import worker.scoring
from metrics import parse_metric
from metrics.measure import measure
from metrics.resources import Resources
from metrics.segments import Segments
from models import Evaluation, Statistics, Submission
from models.arrays import unpack
from models.claims import ClaimedShard
from models.protocol import Measurement, read_measurement
from models.session import make_engine, reading, writing
from models.statistics import ReplicatePart
from tests.scheduler.jobs import one_block_shards, queue_job, similar_text, some_text
from worker.errors import ShardsMissing
from worker.reducer import reduce_evaluations
from worker.scoring import read_shard, score_texts

SEGMENTS = 256 * 7 + 40
METRICS = ("bleu", "wer")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory, sqlite_template) -> Iterator[tuple[Engine, list[int]]]:
    file = tmp_path_factory.mktemp("reducer") / "steelyard.db"
    file.write_bytes(sqlite_template.read_bytes())
    url = f"sqlite:///{file}"
    engine = make_engine(url)
    queued = queue_job(engine, one_block_shards(url), segments=SEGMENTS, systems=2, metrics=METRICS, replicates=30)
    yield engine, queued.all_evaluations
    engine.dispose()


@pytest.fixture(scope="module")
def expected() -> list[tuple[int, int, float, bytes]]:
    """In one process, in one shard."""
    reference = some_text(SEGMENTS, 1)
    systems = [similar_text(reference, 1000 + number) for number in range(2)]
    found = measure(
        Segments(references=[reference], hypotheses=systems), [parse_metric(each) for each in METRICS], replicates=30
    )
    return [
        (system, metric, float(each.scores[system]), each.replicate_scores[system].tobytes())
        for metric, each in enumerate(found)
        for system in range(2)
    ]


def store(
    connection: Connection,
    measurement: Measurement,
    cuts: list[int],
    evaluations: list[int],
    metrics: tuple[int, ...] | None = None,
    *,
    backwards: bool = False,
) -> None:
    """Score the shards between the cuts and store what they leave."""
    text_of = select(Submission.text_id).join(Evaluation, Evaluation.submission_id == Submission.id)
    texts = [connection.execute(text_of.where(Evaluation.id == evaluation)).scalar_one() for evaluation in evaluations]
    ranges = list(itertools.pairwise([0, *cuts, 8]))
    for first, last in reversed(ranges) if backwards else ranges:
        claim = ClaimedShard(0, "o", 1, first, last, tuple(evaluations), tuple(texts), metrics)
        shard = read_shard(connection, claim, measurement)
        for row in score_texts(claim, measurement, shard, Resources()):
            key = {"evaluation_id": row.evaluation_id, "metric": row.metric}
            range_ = {"first_block": first, "last_block": last}
            connection.execute(insert(Statistics).values(**key, **range_, blob=row.statistics))
            if row.replicate_part is not None:
                connection.execute(insert(ReplicatePart).values(**key, **range_, blob=row.replicate_part))


def reduced(connection: Connection, evaluations: list[int]) -> list[tuple[int, int, float, bytes]]:
    rows = reduce_evaluations(connection, read_measurement(connection, 1), evaluations)
    first = min(evaluations)
    return sorted(
        (
            (
                row["evaluation_id"] - first,
                row["metric"],
                row["score"],
                unpack(row["replicate_scores"])[:, 0].tobytes(),
            )
            for row in rows
        ),
        key=lambda row: (row[1], row[0]),
    )


def clear(connection: Connection) -> None:
    connection.execute(delete(Statistics))
    connection.execute(delete(ReplicatePart))


@given(
    cuts=st.lists(st.sets(st.integers(1, 7)), min_size=4, max_size=4),
    alike=st.booleans(),
    travelling=st.integers(0, 8),
    product=st.integers(1, 9),
    table=st.sampled_from([1, 1 << 23]),
    totals=st.sampled_from([1, 31 * 10, 1 << 21]),
)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_every_cut_gives_the_same_bits(job, expected, cuts, alike, travelling, product, table, totals) -> None:
    """Also when evaluations and metrics were cut differently, and whoever makes the replicates."""
    engine, evaluations = job
    with pytest.MonkeyPatch.context() as patch, writing(engine) as connection:
        patch.setattr(worker.scoring, "LARGEST_TRAVELLING", travelling)
        patch.setattr(worker.reducer, "LARGEST_PRODUCT", product)
        patch.setattr(worker.reducer, "LARGEST_TABLE", table)
        patch.setattr(worker.reducer, "LARGEST_TOTALS", totals)
        clear(connection)
        measurement = read_measurement(connection, 1)
        for number, its in enumerate(cuts[:2] * 2 if alike else cuts):
            store(connection, measurement, sorted(its), [evaluations[number % 2]], (number // 2,))
        assert reduced(connection, evaluations) == expected


def test_counts_are_drawn_once_for_all_metrics(job, expected) -> None:
    """A metric that was added later was cut in its own way: the draws are the same."""
    engine, evaluations = job
    drawn = []
    with pytest.MonkeyPatch.context() as patch, writing(engine) as connection:
        patch.setattr(worker.reducer, "LARGEST_PRODUCT", 4)
        real = worker.reducer.drawn_segments
        patch.setattr(worker.reducer, "drawn_segments", lambda *given: drawn.append(given[3:]) or real(*given))
        clear(connection)
        measurement = read_measurement(connection, 1)
        for metric, cuts in enumerate(([1, 2, 5, 6], [3])):
            store(connection, measurement, cuts, evaluations, (metric,))
        assert reduced(connection, evaluations) == expected
    assert drawn == [(0, 1024), (1024, SEGMENTS)]


def test_together_or_apart_is_the_same(job, expected) -> None:
    engine, evaluations = job
    with writing(engine) as connection:
        clear(connection)
        store(connection, read_measurement(connection, 1), [3], evaluations)
        together = reduced(connection, evaluations)
        apart = [row for evaluation in evaluations for row in reduced(connection, [evaluation])]
        assert together == expected
        assert [row[2:] for row in sorted(apart, key=lambda row: row[1])] == [row[2:] for row in expected]


@pytest.mark.parametrize(
    ("condition", "segment"),
    [
        (Statistics.first_block == 3, 769),
        (Statistics.first_block == 0, 1),
        (Statistics.first_block == 6, 1537),
        ((Statistics.first_block == 3) & (Statistics.metric == 1), 769),
    ],
)
def test_a_missing_shard_is_noticed(job, condition, segment: int) -> None:
    engine, evaluations = job
    with writing(engine) as connection:
        clear(connection)
        store(connection, read_measurement(connection, 1), [3, 6], evaluations)
        connection.execute(delete(Statistics).where(condition))
        with pytest.raises(ShardsMissing, match=f"no statistics, or two, for segment {segment}\\."):
            reduce_evaluations(connection, read_measurement(connection, 1), evaluations)


def test_texts_that_are_equal_are_scored_once(job) -> None:
    engine, evaluations = job
    with reading(engine) as connection:
        measurement = read_measurement(connection, 1)
        text = connection.scalar(select(Evaluation.id).where(Evaluation.id == evaluations[0]))
        assert text is not None
        claim = ClaimedShard(0, "o", 1, 0, 8, (1, 2), (2, 2))
        shard = read_shard(connection, claim, measurement)
    sizes = []
    with pytest.MonkeyPatch.context() as patch:
        real = worker.scoring.Batch
        patch.setattr(
            worker.scoring,
            "Batch",
            lambda given, **more: sizes.append(len(given.hypotheses)) or real(given, **more),
        )
        rows = score_texts(claim, measurement, shard, Resources())
    assert sizes == [1]
    assert [row.evaluation_id for row in rows] == [1, 1, 2, 2]
    assert rows[0].statistics == rows[2].statistics
    assert np.array_equal(unpack(rows[1].statistics), unpack(rows[3].statistics))


@pytest.mark.parametrize("whole", [True, False])
def test_shards_count_in_the_order_of_their_blocks_whatever_was_stored_first(
    database_url: str, expected, whole: bool
) -> None:
    """PostgreSQL gives rows as they lie there: statistics in the wrong order would meet the draws of other segments."""
    engine = make_engine(database_url)
    settings = one_block_shards(database_url)
    evaluations = queue_job(
        engine, settings, segments=SEGMENTS, systems=2, metrics=METRICS, replicates=30
    ).all_evaluations
    with pytest.MonkeyPatch.context() as patch, writing(engine) as connection:
        # With and without parts of replicates that the shards have made themselves.
        patch.setattr(worker.scoring, "LARGEST_TRAVELLING", 0 if whole else 8)
        store(connection, read_measurement(connection, 1), [1, 2, 4, 7], evaluations, backwards=True)
        # As they are found where the planner does not come by an index.
        for way in ("indexscan", "indexonlyscan", "bitmapscan", "sort") if engine.dialect.name == "postgresql" else ():
            connection.exec_driver_sql(f"SET LOCAL enable_{way} = off")
        assert reduced(connection, evaluations) == expected
    engine.dispose()
