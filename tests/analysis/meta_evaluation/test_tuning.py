"""Values chosen by human judgments: on sets made by hand, and on a small stored sweep against scipy."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import pearsonr
from sqlalchemy import select

from analysis.meta_evaluation.parameter_sweep import SweepCorrelation, SweepOptions, SweepResult, read_sweep
from analysis.meta_evaluation.tuning import best_value, cross_fit, rival_positions, transfer_choice
from models.corpus.judgments import NewJudgments, SegmentRow, SystemRow, store_judgments
from models.database.session import make_engine, reading, writing
from models.queue.kinds.shards import SHARD
from models.results.boards import BoardSummary, list_boards
from models.schema.queue import Shard
from models.schema.states import JudgmentKind
from steelyard.meta_evaluation.correlation import CorrelationOptions, correlate_segments
from steelyard.meta_evaluation.statistics import segment_statistic
from steelyard.meta_evaluation.sweep import sweep
from steelyard.resampling.interval import percentile_interval
from tests.analysis.campaigns import store
from tests.analysis.judged import made_judged
from tests.scheduler.jobs import one_block_shards, queue_job
from worker.context import WorkerContext
from worker.handlers import do

SYSTEM, SEGMENT = SweepOptions("system", "pearson"), SweepOptions("segment", "pearson")
SWEEP = sweep("tbleu", "eps", ["0", "0.3", "1"], {})
"""Measured: eps 0, 0.3 and 1, then tBLEU's default and BLEU."""
REPLICATES = 40


def agreement(observed, replicates=None) -> SweepCorrelation:
    values = np.array(observed, dtype=np.float64)
    drawn = np.zeros((len(values), 0)) if replicates is None else np.array(replicates, dtype=np.float64)
    return SweepCorrelation(listed(drawn.shape[1]), ("a", "b", "c"), SYSTEM, 3, "systems", values, drawn)


def listed(replicates: int = REPLICATES) -> BoardSummary:
    metrics = tuple(metric.specification for metric in SWEEP.every)
    return BoardSummary(1, 1, "port", "port", "1", ("A",), metrics, replicates, 7, 6)


def made_set(seed: int, systems: int = 4, segments: int = 60, holes: float = 0.3) -> SweepResult:
    """A set whose second value (eps=0.3) agrees best with people, by segments."""
    draw = np.random.default_rng(seed)
    people = draw.normal(size=(systems, segments))
    noise = np.array([2.0, 0.3, 1.0, 1.5, 2.0])[:, None, None]
    scores = people + noise * draw.normal(size=(len(SWEEP.every), systems, segments))
    people[draw.random(people.shape) < holes] = np.nan
    by_metric = dict(zip((metric.specification for metric in SWEEP.every), scores, strict=True))
    judged = made_judged(people, by_metric, replicates=REPLICATES)
    return SweepResult(judged, tuple((first, 6) for first in range(0, segments, 6)))


def test_the_best_value_is_chosen_and_of_equal_ones_the_first():
    assert best_value(SWEEP, agreement([0.1, 0.4, 0.4, 0.9, 0.9])) == 1, "rivals are never chosen"
    assert best_value(SWEEP, agreement([math.nan, -0.4, -0.3, 0.9, 0.9])) == 2
    assert best_value(SWEEP, agreement([math.nan] * 3 + [0.9, 0.9])) is None


def test_a_choice_is_reported_on_the_other_set():
    there = agreement([0.5, 0.2, 0.6, 0.45, 0.4], [[0.5, 0.6], [0.3, 0.1], [0.6, 0.6], [0.4, 0.5], [0.3, 0.5]])
    choice = transfer_choice(SWEEP, agreement([0.1, 0.3, 0.2, 0, 0]), there, 0.95)
    assert choice is not None
    assert (choice.value, choice.best, choice.same_data) == (1, 2, False)
    assert [gain.difference for gain in choice.gains] == [0.2 - 0.45, 0.2 - 0.4]
    assert choice.gains[0].interval == (0.1 - 0.5, 0.3 - 0.4)
    assert choice.gains[1].interval == (0.1 - 0.5, 0.0)
    assert transfer_choice(SWEEP, there, there, 0.95).same_data
    undefined = agreement([math.nan] * 5)
    assert transfer_choice(SWEEP, undefined, there, 0.95) is None
    assert transfer_choice(SWEEP, there, undefined, 0.95) is None


def test_a_gain_over_itself_is_nothing():
    own = sweep("tbleu", "eps", ["0.05", "1"], {})
    assert rival_positions(own) == [0, 2]
    found = agreement([0.5, 0.4, 0.3], [[0.5, 0.7], [0.1, 0.2], [0.3, 0.3]])
    assert [gain.difference for gain in transfer_choice(own, found, found, 0.95).gains] == [0.0, 0.2]
    assert transfer_choice(own, found, found, 0.95).gains[0].interval == (0.0, 0.0)


@pytest.mark.parametrize("statistic", ["pearson", "kendall-wmt14", "kendall-by-segment"])
def test_cross_fitting_by_its_definition(statistic):
    swept, question = made_set(3), SweepOptions("segment", statistic)
    measure = segment_statistic(statistic)
    fitted = np.full(swept.judged.human_segments.shape, np.nan)
    values = []
    for fold in range(3):
        here = np.isin(np.arange(60) // 6 % 3, [fold])
        elsewhere = [
            measure.value(swept.judged.human_segments[:, ~here], scores[:, ~here]) for scores in all_segments(swept)[:3]
        ]
        values.append(int(np.argmax(elsewhere)))
        fitted[:, here] = all_segments(swept)[values[-1]][:, here]
    found = cross_fit(SWEEP, swept, question, 0.9, folds=3)
    assert found is not None
    assert found.choice.values == tuple(values)
    assert found.choice.documents == (4, 3, 3)
    assert found.choice.observed == pytest.approx(measure.value(swept.judged.human_segments, fitted), abs=1e-12)
    bleu = measure.value(swept.judged.human_segments, all_segments(swept)[4])
    assert found.choice.gains[1].difference == pytest.approx(found.choice.observed - bleu, abs=1e-12)
    low, high = found.choice.gains[1].interval
    assert low < found.choice.gains[1].difference < high


def test_cross_fitting_has_no_part_in_what_it_reports():
    """Where the judgments of a fold are turned round, what was chosen for that fold stays."""
    swept = made_set(4, holes=0.0)
    turned = made_set(4, holes=0.0)
    fold = np.arange(60) // 6 % 2 == 0
    turned.judged.human_segments[:, fold] *= -1
    before, after = (cross_fit(SWEEP, each, SEGMENT, 0.95, folds=2) for each in (swept, turned))
    assert before.choice.values[0] == after.choice.values[0]
    assert after.choice.observed < before.choice.observed


def test_without_documents_or_at_the_system_level_nothing_is_cross_fitted():
    assert cross_fit(SWEEP, made_set(1), SYSTEM, 0.95) is None
    assert cross_fit(SWEEP, made_set(1), SEGMENT, 0.95, folds=0) is None
    assert cross_fit(SWEEP, made_set(1, segments=6), SEGMENT, 0.95) is None


def test_agreement_is_that_of_correlate_in_the_order_of_the_sweep():
    swept = made_set(2)
    found = swept.agreement(SYSTEM)
    people = swept.judged.human_systems
    for number, metric in enumerate(swept.judged.metrics):
        assert found.observed[number] == pytest.approx(pearsonr(people, metric.systems).statistic)
    assert found.replicates.shape == (5, REPLICATES)
    assert (found.items, found.unit, found.resampled) == (4, "systems", "segments")
    by_segment = swept.agreement(SEGMENT)
    cells = ~np.isnan(swept.judged.human_segments)
    for number, metric in enumerate(swept.judged.metrics):
        expected = pearsonr(swept.judged.human_segments[cells], metric.segments[cells]).statistic
        assert by_segment.observed[number] == pytest.approx(expected)
    table = correlate_segments(swept.judged, ["pearson"], CorrelationOptions(level=0.9, trials=0))
    intervals = {row.metric.specification: row.agreements[0].interval for row in table.rows}
    for number, metric in enumerate(SWEEP.every):
        assert by_segment.interval(number, 0.9) == intervals[metric.specification]
    # Without raw scores there is nothing that this statistic could rest on.
    undefined = swept.agreement(SweepOptions("segment", "kendall-da"))
    assert not undefined.defined
    raw = replace(swept, judged=replace(swept.judged, human_raw=100 * swept.judged.human_segments))
    by_points = raw.agreement(SweepOptions("segment", "kendall-da"))
    value, _ = raw.segment_measure(SweepOptions("segment", "kendall-da"))
    assert [value(segments) for segments in all_segments(raw)] == pytest.approx(by_points.observed.tolist())
    assert by_points.defined
    assert best_value(SWEEP, undefined) is None


def test_what_nobody_judged_is_undefined():
    judged = replace(made_set(2).judged, human_systems=np.full(4, np.nan), human_segments=np.full((4, 60), np.nan))
    for question in (SYSTEM, SEGMENT, SweepOptions("system", "soft-pairwise")):
        found = SweepResult(judged, ()).agreement(question)
        assert not found.defined
        assert found.interval(0, 0.95) is None


def all_segments(swept: SweepResult) -> list[np.ndarray]:
    return [metric.segments for metric in swept.judged.metrics]


@pytest.fixture
def context(database_url: str):
    with_shards = WorkerContext(one_block_shards(database_url))
    yield with_shards
    with_shards.close()


def test_a_stored_sweep_beside_stored_judgments(context: WorkerContext) -> None:
    metrics = ["tbleu:eps=0", "tbleu:eps=0.5", "ter", "bleu"]
    job = queue_job(context.engine, context.settings, segments=90, systems=4, metrics=metrics, runs={3: 2})
    with reading(context.engine) as connection:
        keys = list(connection.scalars(select(Shard.id)))
    for key in keys:
        do(context, SHARD, key, "task")
    draw = np.random.default_rng(1)
    names = ["system0", "system1", "system3", "HUMAN-A", "gone"]
    segments = [SegmentRow(name, n, float(draw.normal()), 50.0) for name in names for n in range(0, 90, 2)]
    scored = [SystemRow(name, float(number)) for number, name in enumerate(names)]
    new = NewJudgments("da", JudgmentKind.SCORES, {}, scored, segments)
    with writing(context.engine) as connection:
        store_judgments(connection, job.campaign_id, job.test_set_id, new)
    with reading(context.engine) as connection:
        (board,) = list_boards(connection, protocols=job.protocols)
        swept = read_sweep(connection, board, "da@1")
        assert swept is not None
        assert swept.documents == ()
    judged = swept.judged
    assert sorted(judged.systems) == ["system0", "system1", "system3"]
    assert judged.matched.not_judged == ("system2",)
    zero, half, ter, bleu = judged.metrics
    assert (zero.systems == bleu.systems).all(), "tBLEU with eps=0 is BLEU"
    assert (zero.segments == bleu.segments).all()
    assert (ter.systems < 0).all(), "error rates are negated"
    found = swept.agreement(SEGMENT)
    cells = ~np.isnan(judged.human_segments)
    expected = pearsonr(judged.human_segments[cells], half.segments[cells]).statistic
    assert found.observed[1] == pytest.approx(expected, abs=1e-12)
    assert found.items == 3 * 45
    assert found.interval(1, 0.8) == percentile_interval(found.replicates[1], 0.8)
    people = [scored[names.index(system)].score for system in judged.systems]
    by_system = swept.agreement(SYSTEM)
    assert by_system.observed[3] == pytest.approx(pearsonr(people, bleu.systems).statistic)
    assert by_system.resampled == "systems", "these scores are no means of segments"


def test_the_documents_of_a_sweep_are_in_their_order(sqlite_url: str) -> None:
    store(sqlite_url)
    with writing(make_engine(sqlite_url)) as connection:
        (board,) = list_boards(connection)
        new = NewJudgments("da", JudgmentKind.SCORES, {}, [SystemRow("tug", 2.0), SystemRow("raft", 1.0)])
        store_judgments(connection, board.campaign_id, board.test_set_id, new)
        swept = read_sweep(connection, board)
    assert swept is not None
    assert swept.documents == ((0, 2), (2, 3))
