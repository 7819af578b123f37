"""What was measured before is never measured again, and scores are none the worse for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, func, select, update

import worker.computing.reducer
import worker.computing.scoring
from models.corpus.protocols import read_protocol
from models.database.session import reading, writing
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.corpus_statistics import CORPUS_COUNT
from models.queue.kinds.reductions import REDUCTION
from models.queue.kinds.shards import SHARD
from models.results.statistics import read_statistics
from models.schema.base import BLOCK_SEGMENTS, Base
from models.schema.corpus import Submission
from models.schema.queue import CorpusCount, Evaluation, Reduction, Shard
from models.schema.results import Randomization, ReplicatePart, Score, Statistics
from models.schema.states import EvaluationState, LeaseState
from models.storage.arrays import unpack
from runtime.settings import Settings
from scheduler.enqueue.randomization import request_comparison
from scheduler.ingest.campaigns import IngestResult, NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from scheduler.ingest.texts import text_blocks
from steelyard.metrics.metric import EDITION
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.randomization import permutation_counts
from tests.scheduler.jobs import one_block_shards, similar_text, some_text
from worker.computing.scoring import read_texts
from worker.context import WorkerContext
from worker.handlers import do

SEGMENTS = 2 * BLOCK_SEGMENTS + 40
METRICS = ("bleu:order=1-2", "wer", "per", "nist:order=1-2")
# Without empty lines: where references vary, these would lack segments.
FIRST = b"\n".join(line or b"it is ." for line in some_text(SEGMENTS, 1).split(b"\n"))
REFERENCES = {label: similar_text(FIRST, number) for number, label in enumerate("ABC")}
SYSTEMS = [similar_text(REFERENCES["A"], 100 + number) for number in range(3)]

Computed = Counter[tuple[Any, ...]]


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> Computed:
    """How often each (metric, references, whether they vary, system's block) was scored."""
    counted: Computed = Counter()
    real = worker.computing.scoring.shard_statistics

    def counting(segments: Any, metrics: Sequence[Any], *rest: Any) -> Any:
        references = list(zip(*map(text_blocks, segments.references), strict=True))
        for metric in metrics:
            for system in segments.hypotheses:
                for of_block, block in zip(references, text_blocks(system), strict=True):
                    counted[metric.specification, of_block, segments.variable_references, block] += 1
        return real(segments, metrics, *rest)

    monkeypatch.setattr(worker.computing.scoring, "shard_statistics", counting)
    return counted


@pytest.fixture
def context(database_url: str) -> Iterator[WorkerContext]:
    """Every block is a shard."""
    context = WorkerContext(one_block_shards(database_url))
    yield context
    context.close()


@pytest.fixture
def sqlite(sqlite_url: str) -> Iterator[WorkerContext]:
    """For what no database does in its own way."""
    context = WorkerContext(one_block_shards(sqlite_url))
    yield context
    context.close()


def submit(
    context: WorkerContext,
    campaign: str = "first",
    systems: Mapping[str, int] | None = None,
    metrics: Sequence[str] = METRICS[:2],
    references: str = "A",
    test_set: str = "AB",
    *,
    replicates: int = 20,
    seed: int = 1,
    variable: bool = False,
    settings: Settings | None = None,
) -> IngestResult:
    """`systems` are numbers of texts by name, `test_set` and `references` labels in order."""
    return ingest_campaign(
        context.engine,
        settings or context.settings,
        campaign=campaign,
        test_set=NewTestSet("trial", {label: REFERENCES[label] for label in test_set}, variable_references=variable),
        submissions=[NewSubmission(name, SYSTEMS[text]) for name, text in (systems or {"x": 0, "y": 1}).items()],
        protocols=[NewProtocol(list(references), [parse_metric(each) for each in metrics], replicates, seed)],
    )


def work(context: WorkerContext) -> None:
    """Do all that waits, in this process."""
    for kind in (CORPUS_COUNT, SHARD, REDUCTION):
        table = kind.table
        with reading(context.engine) as connection:
            keys = list(connection.scalars(select(table.id).where(table.state == LeaseState.PENDING)))
        for key in sorted(keys):
            do(context, kind, key, "task")


def done(context: WorkerContext, *rest: Any, **others: Any) -> IngestResult:
    """Submitted, worked off, and found right."""
    intake = submit(context, *rest, **others)
    work(context)
    check(context, intake)
    return intake


def check(context: WorkerContext, intake: IngestResult) -> None:
    """All evaluations have the scores that one process gives, to the bit."""
    with reading(context.engine) as connection:
        for evaluation in intake.all_evaluations:
            state = connection.scalar(select(Evaluation.state).where(Evaluation.id == evaluation))
            assert state == EvaluationState.DONE
            protocol = read_protocol(connection, intake.protocols[0])
            text = connection.scalar(
                select(Submission.text_id)
                .join(Evaluation, Evaluation.submission_id == Submission.id)
                .where(Evaluation.id == evaluation)
            )
            assert text is not None
            texts = read_texts(connection, [text, *protocol.reference_texts], 0, 3)
            stored = select(Score).where(Score.evaluation_id == evaluation)
            scores = connection.execute(stored.order_by(Score.metric)).all()
            for score, specification in zip(scores, protocol.metrics, strict=True):
                found = score.score, unpack(score.replicate_scores)[:, 0].tobytes()
                assert score.specification == specification
                assert found == expected(tuple(texts), specification, protocol.replicates, protocol.seed)


@lru_cache(maxsize=1000)
def expected(texts: tuple[bytes, ...], metric: str, replicates: int, seed: int) -> tuple[float, bytes]:
    """Score and replicate scores of the first text against the others."""
    (found,) = score_systems(
        Segments(references=texts[1:], hypotheses=texts[:1]), [parse_metric(metric)], replicates=replicates, seed=seed
    )
    return float(found.scores[0]), found.replicate_scores[0].tobytes()


def new(computed: Computed) -> Counter[str]:
    """How many blocks were scored by each metric since the last look."""
    amounts = Counter[str]()
    for (metric, *_), amount in computed.items():
        amounts[metric] += amount
    computed.clear()
    return amounts


BLEU, WER, PER, NIST = METRICS
BLOCKS = 3


def test_only_what_is_new_is_computed(context: WorkerContext, computed: Computed) -> None:
    first = done(context, "first")
    assert new(computed) == {BLEU: 2 * BLOCKS, WER: 2 * BLOCKS}
    assert first.measured_before == ((0, 0),)
    # The same files under other names, in another campaign.
    again = done(context, "second", {"p": 1, "q": 0})
    assert new(computed) == {}
    assert again.measured_before == ((2, 2),)
    # Other replicates, another seed; another order of metrics.
    done(context, replicates=45)
    done(context, seed=2, replicates=0)
    done(context, metrics=[WER, BLEU])
    assert new(computed) == {}
    # A metric, a system, a reference: alone it was measured before, together it was not.
    third = done(context, metrics=[PER, BLEU, WER])
    assert new(computed) == {PER: 2 * BLOCKS}
    assert third.measured_before == ((2, 2),)
    fourth = done(context, systems={"x": 0, "y": 1, "z": 2})
    assert new(computed) == {BLEU: BLOCKS, WER: BLOCKS}
    assert fourth.measured_before == ((2, 2, 0),)
    done(context, test_set="CAB", systems={"x": 0, "y": 1, "z": 2})
    assert new(computed) == {}
    done(context, test_set="CAB", references="AB", metrics=[WER])
    assert new(computed) == {WER: 2 * BLOCKS}
    # The order of references may matter, and so does whether empty lines are segments that lack one.
    done(context, test_set="CAB", references="BA", metrics=[WER])
    assert new(computed) == {WER: 2 * BLOCKS}
    done(context, variable=True)
    assert new(computed) == {BLEU: 2 * BLOCKS, WER: 2 * BLOCKS}
    # The same campaign once more: nothing to do at all.
    assert submit(context, systems={"x": 0, "y": 1, "z": 2}).measured_before == ((2, 2, 2),)


def test_no_shard_no_corpus_count_and_one_reduction_for_what_is_there(sqlite: WorkerContext) -> None:
    def rows() -> list[int]:
        with reading(sqlite.engine) as connection:
            tables = (Shard, CorpusCount, Reduction)
            return [connection.execute(select(func.count()).select_from(table)).scalar_one() for table in tables]

    done(sqlite, metrics=METRICS)
    before = rows()
    done(sqlite, "second", metrics=METRICS[::-1], replicates=30)
    assert [now - then for now, then in zip(rows(), before, strict=True)] == [0, 0, 1]


campaigns = st.fixed_dictionaries(
    {
        "campaign": st.sampled_from(["first", "second"]),
        "systems": st.dictionaries(st.sampled_from("xyz"), st.integers(0, 2), min_size=1),
        "metrics": st.lists(st.sampled_from(METRICS), min_size=1, unique=True),
        "test_set": st.permutations("ABC").map("".join),
        "references": st.lists(st.sampled_from("ABC"), min_size=1, max_size=2, unique=True).map("".join),
        "replicates": st.sampled_from([0, 20, 45]),
        "seed": st.integers(1, 2),
        "whole": st.booleans(),
        "travelling": st.sampled_from([0, 16]),
    }
)


def any_order(context: WorkerContext, computed: Computed, patch: pytest.MonkeyPatch, examples: int) -> None:
    """However the shards are cut, each text is measured once by each metric against each choice of references."""

    @given(steps=st.lists(campaigns, min_size=2, max_size=5))
    @settings(max_examples=examples, derandomize=True)
    def check_steps(steps: list[dict[str, Any]]) -> None:
        computed.clear()
        with writing(context.engine) as connection:
            for table in reversed(Base.metadata.sorted_tables):
                connection.execute(delete(table))
        # SQLite gives their numbers again. Connections keep protocols, which nothing but this deletes.
        context.engine.dispose()
        for step in steps:
            patch.setattr(worker.computing.scoring, "LARGEST_TRAVELLING", step["travelling"])
            shards = {"shortest_shard_seconds": 1000.0} if step["whole"] else {}
            others = {key: value for key, value in step.items() if key not in {"whole", "travelling"}}
            done(context, **others, settings=context.settings.model_copy(update=shards))
        assert set(computed.values()) == {1}

    check_steps()


def test_whatever_comes_in_whatever_order(
    sqlite: WorkerContext, computed: Computed, monkeypatch: pytest.MonkeyPatch
) -> None:
    any_order(sqlite, computed, monkeypatch, 15)


def test_on_postgresql_too(postgres_url: str, computed: Computed, monkeypatch: pytest.MonkeyPatch) -> None:
    context = WorkerContext(one_block_shards(postgres_url))
    any_order(context, computed, monkeypatch, 4)
    context.close()


def test_copies_stand_alone(context: WorkerContext, computed: Computed) -> None:
    first = done(context)
    second = done(context, "second")
    with writing(context.engine) as connection:
        for evaluation in first.all_evaluations:
            for table in (Statistics, Score):
                connection.execute(delete(table).where(table.evaluation_id == evaluation))
    check(context, second)
    new(computed)
    done(context, "third", seed=3)
    assert new(computed) == {}


@pytest.mark.parametrize("what", ["signature", "edition", "running", "statistics", "text"])
def test_only_what_is_surely_the_same_is_taken_over(sqlite: WorkerContext, computed: Computed, what: str) -> None:
    first = done(sqlite)
    evaluation = Evaluation.id == first.all_evaluations[0]
    with writing(sqlite.engine) as connection:
        if what == "signature":
            connection.execute(update(Score).where(Score.metric == 0).values(signature="nrefs:1|version:0.0.9"))
        elif what == "edition":
            connection.execute(update(Evaluation).where(evaluation).values(edition=0))
        elif what == "running":
            connection.execute(update(Evaluation).where(evaluation).values(state=EvaluationState.REDUCING))
        elif what == "statistics":
            # Somebody has deleted a part of it.
            connection.execute(delete(Statistics).where(Statistics.metric == 1, Statistics.first_block == 1))
    new(computed)
    done(sqlite, "second", {"x": 2, "y": 1} if what == "text" else None)
    one = {BLEU: BLOCKS, WER: BLOCKS}
    assert (
        new(computed)
        == {
            "signature": {BLEU: 2 * BLOCKS},
            "edition": one,
            "running": one,
            "statistics": {WER: 2},
            "text": one,
        }[what]
    )


def test_a_text_given_twice_is_scored_once(sqlite: WorkerContext, computed: Computed) -> None:
    """Also where systems are so many that a shard takes only some of them."""
    small = sqlite.settings.model_copy(update={"largest_shard_bytes": 2 * BLOCK_SEGMENTS * 4096})
    done(sqlite, systems={"u": 0, "v": 1, "w": 2, "x": 0, "y": 1, "z": 2}, settings=small)
    assert set(computed.values()) == {1}
    with reading(sqlite.engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Shard)) == 2 * BLOCKS


@pytest.mark.parametrize(("replicates", "seed"), [(20, 1), (30, 1), (20, 2)])
def test_sums_of_large_shards_are_taken_over_with_the_same_replicates(
    sqlite: WorkerContext, monkeypatch: pytest.MonkeyPatch, replicates: int, seed: int
) -> None:
    monkeypatch.setattr(worker.computing.scoring, "LARGEST_TRAVELLING", 0)
    done(sqlite, metrics=[BLEU])
    second = done(sqlite, "second", metrics=[BLEU], replicates=replicates, seed=seed)
    with reading(sqlite.engine) as connection:
        parts = connection.scalar(
            select(func.count())
            .select_from(ReplicatePart)
            .where(ReplicatePart.evaluation_id.in_(second.all_evaluations))
        )
    assert parts == (2 * BLOCKS if (replicates, seed) == (20, 1) else 0)


def test_comparisons_read_what_was_taken_over(sqlite: WorkerContext) -> None:
    """However its shards were cut."""
    whole = sqlite.settings.model_copy(update={"shortest_shard_seconds": 1000.0, "at_once_seconds": 1000.0})
    done(sqlite, systems={"p": 0}, metrics=[WER], settings=whole)
    job = done(sqlite, "second", {"x": 0, "y": 1})
    cuts = (Statistics.evaluation_id, Statistics.metric, func.count())
    with reading(sqlite.engine) as connection:
        rows = connection.execute(select(*cuts).group_by(*cuts[:2]).order_by(*cuts[:2])).all()
        assert [amount for evaluation, _, amount in rows if evaluation in job.all_evaluations] == [3, 1, 3, 3]
    pair = ((job.all_evaluations[0],), (job.all_evaluations[1],))
    assert request_comparison(sqlite.engine, whole, job.protocols[0], [pair], (0, 1), trials=300, seed=3) is None
    metrics = [parse_metric(BLEU), parse_metric(WER)]
    found = score_systems(Segments(references=[REFERENCES["A"]], hypotheses=SYSTEMS[:2]), metrics, keep_statistics=True)
    for metric, each in enumerate(found):
        assert each.statistics is not None
        trials = {"seed": 3, "first_trial": 0, "last_trial": 300}
        counts = permutation_counts(metrics[metric], each.statistics, [(0, 1)], runs=[1, 1], **trials)
        with reading(sqlite.engine) as connection:
            stored = read_statistics(connection, job.all_evaluations, metric)
            assert np.array_equal(stored, each.statistics)
            made = connection.scalar(select(Randomization.as_large).where(Randomization.metric == metric))
        assert made == counts[0]


def test_taken_up_again_each_metric_keeps_what_it_has(context: WorkerContext, computed: Computed) -> None:
    done(context, metrics=[WER])
    intake = submit(context, metrics=[BLEU, WER], systems={"x": 0, "z": 2})
    with reading(context.engine) as connection:
        first = connection.execute(select(Shard.id).where(Shard.state == "pending").order_by(Shard.id)).scalars().all()
    do(context, SHARD, first[0], "task")
    with writing(context.engine) as connection:
        cancel_evaluations(connection, intake.all_evaluations)
    assert new(computed) == {WER: 2 * BLOCKS, BLEU: 1}
    # Meanwhile somebody else has had z measured by one of the metrics.
    done(context, "second", metrics=[WER], systems={"q": 2})
    assert new(computed) == {WER: BLOCKS}
    assert done(context, metrics=[BLEU, WER], systems={"x": 0, "z": 2}).measured_before == ((1, 1),)
    assert new(computed) == {BLEU: 2 * BLOCKS - 1}


def test_requeued_in_another_edition_it_starts_again(sqlite: WorkerContext, computed: Computed) -> None:
    intake = submit(sqlite)
    work(sqlite)
    with writing(sqlite.engine) as connection:
        connection.execute(delete(Score))
        chosen = Evaluation.id.in_(intake.all_evaluations)
        connection.execute(update(Evaluation).where(chosen).values(state=EvaluationState.FAILED, edition=0))
    new(computed)
    done(sqlite)
    assert new(computed) == {BLEU: 2 * BLOCKS, WER: 2 * BLOCKS}
    with reading(sqlite.engine) as connection:
        assert set(connection.scalars(select(Evaluation.edition))) == {EDITION}


def test_statistics_that_overlap_are_measured_again(context: WorkerContext, computed: Computed) -> None:
    """A worker of an earlier release may have scored all metrics of a shard that should have had one."""
    intake = done(context)
    with writing(context.engine) as connection:
        connection.execute(delete(Score))
        connection.execute(update(Evaluation).values(state=EvaluationState.FAILED))
        at = (Statistics.evaluation_id == intake.all_evaluations[0], Statistics.metric == 1)
        connection.execute(update(Statistics).where(*at, Statistics.first_block == 0).values(last_block=2))
    new(computed)
    done(context)
    assert new(computed) == {WER: 2}
