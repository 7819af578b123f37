"""Reductions: every way to cut a test set gives the same bits, and gaps are noticed."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine, delete, insert, select, update

import worker.computing.reducer
import worker.computing.scoring
from models.corpus.protocols import ProtocolContent, read_protocol
from models.database.session import make_engine, reading, writing
from models.errors import BadBlob
from models.queue.kinds.shards import ClaimedShard
from models.schema.corpus import Submission
from models.schema.queue import Evaluation
from models.schema.results import ReplicatePart, Statistics
from models.schema.states import QueueClass
from models.storage.arrays import pack, unpack
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resources import Resources
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.scheduler.jobs import one_block_shards, queue_job, similar_text, some_text
from worker.computing.reducer import Group, _portions, _score_rows, reduce_evaluations
from worker.computing.scoring import read_shards, score_texts
from worker.computing.signature import stored_signature
from worker.errors import ShardsMissing

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
    found = score_systems(
        Segments(references=[reference], hypotheses=systems), [parse_metric(each) for each in METRICS], replicates=30
    )
    return [
        (system, metric, float(each.scores[system]), each.replicate_scores[system].tobytes())
        for metric, each in enumerate(found)
        for system in range(2)
    ]


def store(
    connection: Connection,
    measurement: ProtocolContent,
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
        claim = ClaimedShard(
            0, "o", 1, None, QueueClass.CAMPAIGN, 1, first, last, tuple(evaluations), tuple(texts), metrics
        )
        (shard,) = read_shards(connection, [claim], measurement)
        for row in score_texts(claim, measurement, shard, Resources()):
            key = {"evaluation_id": row.evaluation_id, "metric": row.metric}
            range_ = {"first_block": first, "last_block": last}
            connection.execute(insert(Statistics).values(**key, **range_, blob=row.statistics))
            if row.replicate_part is not None:
                connection.execute(insert(ReplicatePart).values(**key, **range_, blob=row.replicate_part))


def reduced(connection: Connection, evaluations: list[int]) -> list[tuple[int, int, float, bytes]]:
    rows = reduce_evaluations(connection, read_protocol(connection, 1), evaluations)
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
    counts=st.sampled_from([1, 1 << 26]),
)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_every_cut_gives_the_same_bits(job, expected, cuts, alike, travelling, product, table, totals, counts) -> None:
    """Also when evaluations and metrics were cut differently, and whoever makes the replicates."""
    engine, evaluations = job
    with pytest.MonkeyPatch.context() as patch, writing(engine) as connection:
        patch.setattr(worker.computing.scoring, "LARGEST_TRAVELLING", travelling)
        patch.setattr(worker.computing.reducer, "LARGEST_PRODUCT", product)
        patch.setattr(worker.computing.reducer, "LARGEST_TABLE", table)
        patch.setattr(worker.computing.reducer, "LARGEST_TOTALS", totals)
        patch.setattr(worker.computing.reducer, "LARGEST_COUNTS", counts)
        clear(connection)
        measurement = read_protocol(connection, 1)
        for number, its in enumerate(cuts[:2] * 2 if alike else cuts):
            store(connection, measurement, sorted(its), [evaluations[number % 2]], (number // 2,))
        assert reduced(connection, evaluations) == expected


def test_counts_are_drawn_once_for_all_metrics(job, expected) -> None:
    """A metric that was added later was cut in its own way: the draws are the same."""
    engine, evaluations = job
    drawn = []
    with pytest.MonkeyPatch.context() as patch, writing(engine) as connection:
        patch.setattr(worker.computing.reducer, "LARGEST_PRODUCT", 4)
        real = worker.computing.reducer.drawn_segments
        patch.setattr(
            worker.computing.reducer, "drawn_segments", lambda *given: drawn.append(given[3:]) or real(*given)
        )
        clear(connection)
        measurement = read_protocol(connection, 1)
        for metric, cuts in enumerate(([1, 2, 5, 6], [3])):
            store(connection, measurement, cuts, evaluations, (metric,))
        assert reduced(connection, evaluations) == expected
    assert drawn == [(0, 1024), (1024, SEGMENTS)]


@pytest.mark.parametrize("cuts", [[3, 4, 5, 6, 7], [1, 2, 3, 4, 5]])
def test_who_has_made_some_of_the_replicates_and_who_has_not_share_the_draws(job, expected, cuts: list[int]) -> None:
    """A large shard at the beginning or at the end has made its part: draws are made for all that the other lacks."""
    engine, evaluations = job
    with pytest.MonkeyPatch.context() as patch, writing(engine) as connection:
        patch.setattr(worker.computing.scoring, "LARGEST_TRAVELLING", 2)
        clear(connection)
        measurement = read_protocol(connection, 1)
        for evaluation, its in zip(evaluations, (cuts, [1, 2, 3, 4, 5, 6, 7]), strict=True):
            store(connection, measurement, its, [evaluation])
        made = connection.execute(select(ReplicatePart.evaluation_id, ReplicatePart.metric)).all()
        assert sorted(made) == [(evaluations[0], metric) for metric in range(2)]
        assert reduced(connection, evaluations) == expected


@given(
    amounts=st.lists(st.integers(1, 20), min_size=1, max_size=5),
    segments=st.integers(1, 4000),
    replicates=st.integers(0, 50),
    product=st.integers(1, 9),
    table=st.integers(1, 200_000),
    totals=st.integers(1, 2000),
)
def test_memory_holds_each_portion(amounts, segments, replicates, product, table, totals) -> None:
    """The statistics of each group, the totals of each portion; more only where a single metric needs it."""
    metrics = ("bleu", "wer", "chrf", "per")
    widths = [len(parse_metric(each).columns) for each in metrics]
    measurement = ProtocolContent(1, segments, False, (1,), metrics, replicates, 1)
    begin, groups = 0, []
    for number, amount in enumerate(amounts):
        groups.append(Group((), tuple(range(number % 4, 4)), tuple(range(begin, begin + amount))))
        begin += amount
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("LARGEST_PRODUCT", product), ("LARGEST_TABLE", table), ("LARGEST_TOTALS", totals)):
            patch.setattr(worker.computing.reducer, name, value)
        portions = list(_portions(measurement, groups))

    def columns(group: Group) -> int:
        return sum(widths[metric] for metric in group.metrics) * len(group.evaluations)

    def single(group: Group) -> bool:
        return len(group.metrics) == len(group.evaluations) == 1

    most = totals // (1 + replicates)
    for portion in portions:
        assert sum(map(columns, portion)) <= most or (len(portion) == 1 and single(portion[0]))
        for group in portion:
            assert columns(group) * min(segments, product * 256) <= table or single(group)
    # As few as can be: draws are made anew for each.
    for portion, following in itertools.pairwise(portions):
        assert sum(map(columns, portion)) + columns(following[0]) > most
    parts = [(group.metrics, group.evaluations) for portion in portions for group in portion]
    found = [(metric, each) for metrics, members in parts for metric, each in itertools.product(metrics, members)]
    assert sorted(found) == sorted(
        (metric, each) for group in groups for metric, each in itertools.product(group.metrics, group.evaluations)
    )


@pytest.mark.parametrize("table", [Statistics, ReplicatePart])
@pytest.mark.parametrize("damage", ["a row more", "a column less", "not a number"])
def test_what_is_stored_otherwise_than_it_should_be_is_not_scored(job, table, damage: str) -> None:
    """Also where all shards are damaged alike, and would go together."""
    engine, evaluations = job
    with pytest.MonkeyPatch.context() as patch, writing(engine) as connection:
        patch.setattr(worker.computing.scoring, "LARGEST_TRAVELLING", 0 if table is ReplicatePart else 8)
        clear(connection)
        store(connection, read_protocol(connection, 1), [3, 6], evaluations)
        for row in connection.execute(select(table)).all():
            values = unpack(row.blob)
            if damage == "a row more":
                values = np.concatenate([values, values[:1]])
            elif damage == "a column less":
                values = values[:, 1:]
            else:
                values[0, 0] = np.nan
            key = (getattr(table, name) == getattr(row, name) for name in ("evaluation_id", "metric", "first_block"))
            connection.execute(update(table).where(*key).values(blob=pack(values)))
        with pytest.raises(BadBlob):
            reduced(connection, evaluations)


def test_a_row_says_what_was_measured_and_how(job) -> None:
    """All of it: sums and details are those of the plain score; what is undefined is nothing, not a number."""
    metrics = ("bleu", "wer", "character")
    measurement = ProtocolContent(1, 600, False, (1,), metrics, 3, 77)
    for position, specification in enumerate(metrics):
        metric = parse_metric(specification)
        columns = len(metric.columns)
        totals = np.arange(1.0, 1 + 3 * 4 * columns).reshape(3, 4, columns)
        totals[1] = 0.0
        rows = list(_score_rows(measurement, position, (5, 3, 9), totals))
        assert [row["evaluation_id"] for row in rows] == [5, 3, 9]
        for row, total in zip(rows, totals, strict=True):
            scores = metric.score(total)
            assert unpack(row.pop("sums")).tolist() == [total[0].tolist()]
            assert np.array_equal(unpack(row.pop("replicate_scores"))[:, 0], scores[1:], equal_nan=True)
            expected = None if np.isnan(scores[0]) else float(scores[0])
            assert row == {
                "evaluation_id": row["evaluation_id"],
                "metric": position,
                "specification": specification,
                "title": metric.title,
                "signature": stored_signature(metric, measurement),
                "higher_is_better": specification == "bleu",
                "scale": metric.scale,
                "columns": list(metric.columns),
                "score": expected,
                "details": metric.details(total[0]),
            }
        assert (rows[1]["score"] is None) == (specification == "character")


def test_together_or_apart_is_the_same(job, expected) -> None:
    engine, evaluations = job
    with writing(engine) as connection:
        clear(connection)
        store(connection, read_protocol(connection, 1), [3], evaluations)
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
        # The last block has fewer segments.
        (Statistics.first_block == 7, 1793),
    ],
)
def test_a_missing_shard_is_noticed(job, condition, segment: int) -> None:
    engine, evaluations = job
    with writing(engine) as connection:
        clear(connection)
        store(connection, read_protocol(connection, 1), [3, 6] if segment != 1793 else [3, 6, 7], evaluations)
        connection.execute(delete(Statistics).where(condition))
        with pytest.raises(ShardsMissing, match=f"no statistics, or two, for segment {segment}\\."):
            reduce_evaluations(connection, read_protocol(connection, 1), evaluations)


def test_texts_that_are_equal_are_scored_once(job) -> None:
    engine, evaluations = job
    with reading(engine) as connection:
        measurement = read_protocol(connection, 1)
        text = connection.scalar(select(Evaluation.id).where(Evaluation.id == evaluations[0]))
        assert text is not None
        claim = ClaimedShard(0, "o", 1, None, QueueClass.CAMPAIGN, 1, 0, 8, (1, 2), (2, 2))
        (shard,) = read_shards(connection, [claim], measurement)
    sizes = []
    with pytest.MonkeyPatch.context() as patch:
        real = worker.computing.scoring.Segments
        patch.setattr(
            worker.computing.scoring,
            "Segments",
            lambda **given: sizes.append(len(given["hypotheses"])) or real(**given),
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
        patch.setattr(worker.computing.scoring, "LARGEST_TRAVELLING", 0 if whole else 8)
        store(connection, read_protocol(connection, 1), [1, 2, 4, 7], evaluations, backwards=True)
        # As they are found where the planner does not come by an index.
        for way in ("indexscan", "indexonlyscan", "bitmapscan", "sort") if engine.dialect.name == "postgresql" else ():
            connection.exec_driver_sql(f"SET LOCAL enable_{way} = off")
        assert reduced(connection, evaluations) == expected
    engine.dispose()
