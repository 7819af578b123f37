"""Agreement of a board's metrics with people, recomputed from the texts and the draws."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sqlalchemy import func, select, update

from analysis.leaderboard.board import read_board
from analysis.meta_evaluation.metrics_and_human import _is_percentage, read_judged
from campaigns.submissions.submit import SubmissionInput, submit
from models.corpus.judgments import NewJudgments, RatingRow, SegmentRow, SystemRow, store_judgments
from models.database.session import reading, writing
from models.errors import NotFound
from models.results.boards import list_boards
from models.schema.campaigns import Campaign
from models.schema.corpus import System, TestSet
from models.schema.results import Score
from models.schema.roles import DeclaredKind
from models.schema.states import JudgmentKind
from steelyard.formats.plain import Text
from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.meta_evaluation.correlation import CorrelationOptions, correlate_segments, correlate_systems
from steelyard.meta_evaluation.statistics import DEFAULT_SEGMENT, DEFAULT_SYSTEM, SYSTEM_STATISTICS, segment_statistic
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.correction import corrected
from tests.analysis.judged import METRICS, SEGMENTS, SYSTEMS, human_scores, judge, read, scored_campaign
from tests.scheduler.jobs import one_block_shards, similar_text, some_text, work_off

JUDGED = [f"system{number}" for number in range(SYSTEMS - 1)]


@pytest.fixture
def engine(sqlite_url):
    return scored_campaign(sqlite_url)


def measured():
    """The same campaign without a database: segment scores of the judged systems, oriented, and statistics."""
    reference = some_text(SEGMENTS, 1)
    texts = [similar_text(reference, 1000 + number) for number in range(SYSTEMS - 1)]
    found = score_systems(
        Segments(references=[reference], hypotheses=texts),
        [parse_metric(each) for each in METRICS],
        segment_scores=True,
        replicates=80,
    )
    return {
        each.metric.name: (1 if each.metric.higher_is_better else -1, each.scores, each.segment_scores, each)
        for each in found
    }


def in_order(judged, array):
    return np.stack([array[JUDGED.index(system)] for system in judged.systems])


def test_systems_and_segments_are_matched(database_url):
    engine, human = scored_campaign(database_url), human_scores()
    judge(engine, human)
    judged = read(engine)
    assert sorted(judged.systems) == JUDGED
    assert judged.matched.references == ("HUMAN-A",)
    assert judged.matched.unknown == ("stranger",)
    assert judged.matched.not_judged == (f"system{SYSTEMS - 1}",)
    with reading(engine) as connection:
        (listed,) = list_boards(connection)
        left = read_judged(connection, read_board(connection, listed, 0.95).excluding(["system1"]))
    assert left.matched.unknown == ("stranger",), "who was left out is not said to be unknown"
    assert sorted(left.systems) == [name for name in JUDGED if name != "system1"]
    np.testing.assert_array_equal(judged.human_segments, in_order(judged, human))
    np.testing.assert_array_equal(judged.human_raw, judged.human_segments)
    for metric, name in zip(judged.metrics, METRICS, strict=True):
        sign, scores, segments, _ = measured()[name]
        np.testing.assert_array_equal(metric.systems, in_order(judged, sign * scores))
        np.testing.assert_array_equal(metric.segments, in_order(judged, sign * segments))


def test_a_board_is_judged_by_what_was_said_of_its_own_test_set(engine, sqlite_url):
    human = human_scores()
    judge(engine, human)
    engine = scored_campaign(sqlite_url, campaign="other", seed=5)
    with reading(engine) as connection:
        first, second = sorted(list_boards(connection), key=lambda each: each.protocol_id)
        judged = read_judged(connection, read_board(connection, first, 0.95))
        np.testing.assert_array_equal(judged.human_segments, in_order(judged, human))
        test_set = connection.scalar(select(func.max(TestSet.id)))
    one = NewJudgments("da", JudgmentKind.RATINGS, {}, [], [SegmentRow("system0", 3, 50.0, 50.0, 1)])
    with writing(engine) as connection:
        store_judgments(connection, second.campaign_id, test_set, one)
        judged = read_judged(connection, read_board(connection, second, 0.95))
    assert (judged.systems, judged.human_segments[0, 3]) == (("system0",), 50.0)


def test_people_judged_the_submission_of_a_system_that_is_ranked(engine, sqlite_url):
    """Beside a team's primary submission stands a later one of the same system."""
    settings = one_block_shards(sqlite_url)
    texts = [Text("out.txt", some_text(SEGMENTS, seed), SEGMENTS) for seed in (7, 8)]
    primary, later = (
        submit(engine, settings, SubmissionInput("trial", "harbour", "mast", each, declared=kind))
        for each, kind in zip(texts, (DeclaredKind.PRIMARY, DeclaredKind.CONTRASTIVE), strict=True)
    )
    work_off(settings)
    store = NewJudgments("da", JudgmentKind.SCORES, {}, [SystemRow("mast", 70.0), SystemRow("system0", 60.0)])
    with writing(engine) as connection:
        store_judgments(
            connection, connection.scalar(select(Campaign.id)), connection.scalar(select(TestSet.id)), store
        )
        scores = dict(connection.execute(select(Score.evaluation_id, Score.score).where(Score.metric == 0)).all())
    judged = read(engine)
    with reading(engine) as connection:
        (listed,) = list_boards(connection)
        for ranked_only in (False, True):
            board = read_board(connection, listed, 0.95, ranked_only=ranked_only)
            assert board.not_ranked == 1, "shown or not"
            assert sum(not row.ranked for row in board.rows) == (not ranked_only)
        left = read_judged(connection, read_board(connection, listed, 0.95).excluding(["harbour/mast"]))
    # People call it by its name alone.
    assert (left.systems, left.matched.unknown) == (("system0",), ())
    (mast,) = (place for place, name in enumerate(judged.systems) if name == "mast")
    assert scores[primary.evaluations[0]] != scores[later.evaluations[0]]
    assert judged.metrics[0].systems[mast] == scores[primary.evaluations[0]]


@pytest.mark.parametrize(
    ("kind", "least", "most", "known"),
    [
        (JudgmentKind.RATINGS, 0.0, 100.0, True),
        (JudgmentKind.SCORES, 0.0, 10.5, True),
        (JudgmentKind.SCORES, 0.0, 10.0, False),
        (JudgmentKind.SCORES, -0.5, 90.0, False),
        (JudgmentKind.RATINGS, 1.0, 100.5, False),
        (JudgmentKind.SCORES, math.nan, math.nan, False),
        (JudgmentKind.ERRORS, 0.0, 90.0, False),
    ],
)
def test_raw_scores_are_percentages_or_are_not_known(kind, least, most, known):
    """DARR's 25 points are points of a hundred."""
    assert _is_percentage(kind, np.array([[least, math.nan], [most, least]])) is known


def test_what_is_no_percentage_is_not_compared_by_points(engine):
    """Penalties of errors rank segments, but 25 points of them mean nothing."""
    human = human_scores()
    judge(engine, human, kind=JudgmentKind.ERRORS)
    judged = read(engine)
    np.testing.assert_array_equal(judged.human_segments, in_order(judged, human))
    assert judged.human_raw.shape == judged.human_segments.shape
    assert np.isnan(judged.human_raw).all()


def test_a_human_translation_that_was_submitted_is_no_system(engine):
    """People judge it beside the systems; metrics are not asked to place it among them."""
    with writing(engine) as connection:
        connection.execute(update(System).where(System.name == "system5").values(name="HUMAN-A"))
    judge(engine, human_scores())
    judged = read(engine)
    assert sorted(judged.systems) == JUDGED
    assert judged.matched.references == ("HUMAN-A",)


def test_chosen_metrics_only_and_judgments_that_are_not_there(engine):
    judge(engine, human_scores())
    assert [metric.specification for metric in read(engine, metrics=[2, 0]).metrics] == ["chrf", "bleu"]
    with pytest.raises(NotFound, match="da"):
        read(engine, human="mqm")


def test_statistics_of_systems_and_their_replicates(engine):
    human = human_scores()
    judge(engine, human)
    judged = read(engine)
    table = correlate_systems(judged, DEFAULT_SYSTEM, CorrelationOptions(trials=0))
    counts = resampling_counts(SEGMENTS, 12345, 80, 0, SEGMENTS).astype(float)
    people = in_order(judged, human)
    means = np.nanmean(people, axis=1)
    known = ~np.isnan(people)
    drawn_means = (counts @ np.where(known, people, 0).T) / (counts @ known.T.astype(float))
    for row in table.rows:
        sign, scores, _, measurement = measured()[row.metric.specification]
        ours = in_order(judged, sign * scores)
        by_name = {each.name: agreement for each, agreement in zip(table.statistics, row.agreements, strict=True)}
        assert by_name["pearson"].value == pytest.approx(stats.pearsonr(means, ours).statistic)
        assert by_name["spearman"].value == pytest.approx(stats.spearmanr(means, ours).statistic)
        assert by_name["kendall"].value == pytest.approx(stats.kendalltau(means, ours).statistic)
        assert by_name["pairwise"].counted == by_name["soft-pairwise"].counted == 10
        resampled = in_order(judged, sign * measurement.replicate_scores)
        expected = [stats.pearsonr(drawn_means[r], resampled[:, r]).statistic for r in range(80)]
        np.testing.assert_allclose(by_name["pearson"].replicates, expected, atol=1e-9)
        assert by_name["pearson"].resampled == "segments"
        assert by_name["soft-pairwise"].resampled == "systems"
        low, high = by_name["pearson"].interval
        assert low <= high
    ranked = [row.agreements[0].value for row in table.rows]
    assert ranked == sorted(ranked, reverse=True)
    assert [row.rank for row in table.rows] == [1, 2, 3]


def test_systems_are_drawn_where_only_they_have_scores(engine):
    judge(engine, human_scores(), segments=False)
    judged = read(engine)
    assert not judged.has_segments
    table = correlate_systems(judged, DEFAULT_SYSTEM, CorrelationOptions(replicates=40, trials=0))
    assert [statistic.name for statistic in table.undefined] == ["soft-pairwise"]
    assert {agreement.resampled for row in table.rows for agreement in row.agreements} == {"systems"}
    counts = resampling_counts(5, 12345, 40, 0, 5)
    row = table.rows[0]
    expected = [
        stats.pearsonr(np.repeat(judged.human_systems, times), np.repeat(row.metric.systems, times)).statistic
        for times in counts
    ]
    np.testing.assert_allclose(row.agreements[0].replicates, expected, atol=1e-9)


def test_statistics_of_segments(engine):
    human = human_scores()
    judge(engine, human, systems=False)
    judged = read(engine)
    assert not judged.has_systems
    names = (*DEFAULT_SEGMENT, "kendall-da")
    table = correlate_segments(judged, names, CorrelationOptions(trials=20))
    people = in_order(judged, human)
    for row in table.rows:
        sign, _, segments, _ = measured()[row.metric.specification]
        for name, agreement in zip(names, row.agreements, strict=True):
            assert agreement.value == segment_statistic(name).value(people, in_order(judged, sign * segments))
            assert len(agreement.replicates) == 80
    best, *others = table.rows
    assert best.test is None
    assert table.baseline is best.metric
    found = [row.test for row in others]
    for row, test in zip(others, found, strict=True):
        assert test.difference == best.agreements[0].value - row.agreements[0].value
        assert 1 / 21 <= test.p <= 1
        assert math.isnan(test.williams)
    assert [test.p_corrected for test in found] == corrected([test.p for test in found], "holm").tolist()


def test_the_baseline_is_the_one_asked_for(engine):
    judge(engine, human_scores())
    judged = read(engine)
    table = correlate_systems(judged, ["pearson"], CorrelationOptions(baseline=1))
    assert table.baseline is judged.metrics[1]
    tested = [row for row in table.rows if row.test]
    assert [row.metric.specification for row in table.rows if not row.test] == ["ter"]
    assert all(row.test.p * 32 == round(row.test.p * 32) for row in tested), "all 2^5 ways"
    assert all(0 < row.test.williams <= 1 for row in tested)


def test_what_is_undefined_for_all_metrics_neither_ranks_nor_stands_in_the_table(engine):
    alone = np.full((SYSTEMS, SEGMENTS), np.nan)
    for segment in range(SEGMENTS):
        alone[segment % (SYSTEMS - 1), segment] = segment * 7 % 100
    alone[-1] = alone[0]
    judge(engine, alone)
    table = correlate_segments(read(engine), DEFAULT_SEGMENT, CorrelationOptions(trials=0))
    assert [statistic.name for statistic in table.statistics] == ["pearson"]
    assert [row.rank for row in table.rows] == [1, 2, 3]
    nothing = correlate_segments(read(engine), ["acc"], CorrelationOptions())
    assert [row.rank for row in nothing.rows] == [None] * 3
    assert nothing.baseline is None


def test_metrics_without_any_score_of_a_system_are_not_ranked(engine):
    judge(engine, human_scores())
    judged = read(engine)
    unscored = [replace(metric, systems=np.full(len(judged.systems), math.nan)) for metric in judged.metrics]
    names = [statistic.name for statistic in SYSTEM_STATISTICS if statistic.name != "soft-pairwise"]
    table = correlate_systems(replace(judged, metrics=unscored), names, CorrelationOptions(trials=20))
    assert not table.statistics
    assert len(table.undefined) == len(names)
    assert [row.rank for row in table.rows] == [None] * len(METRICS)


def test_several_runs_count_by_their_mean(sqlite_url):
    engine = scored_campaign(sqlite_url, runs={0: 3})
    judge(engine, human_scores())
    judged = read(engine)
    reference = some_text(SEGMENTS, 1)
    runs = [similar_text(reference, 1000 + 500 * run) for run in range(3)]
    (bleu,) = score_systems(
        Segments(references=[reference], hypotheses=runs), [parse_metric("bleu")], segment_scores=True
    )
    place = judged.systems.index("system0")
    np.testing.assert_allclose(judged.metrics[0].segments[place], bleu.segment_scores.mean(0), rtol=1e-12)


def test_the_same_again_is_the_same_to_the_bit(engine):
    judge(engine, human_scores())
    tables = [
        made(read(engine), names, CorrelationOptions(trials=30))
        for _ in range(2)
        for made, names in ((correlate_systems, DEFAULT_SYSTEM), (correlate_segments, DEFAULT_SEGMENT))
    ]
    for first, second in zip(tables[:2], tables[2:], strict=True):
        for one, other in zip(first.rows, second.rows, strict=True):
            assert repr(one.test) == repr(other.test)
            for left, right in zip(one.agreements, other.agreements, strict=True):
                assert (left.value, left.interval) == (right.value, right.interval)
                assert left.replicates.tobytes() == right.replicates.tobytes()


def test_rankings_count_each_comparison_as_wmt14_did(engine):
    rankings = {
        ("ann", 0, "r1"): {"system0": 1, "system1": 2, "system2": 2, "HUMAN-A": 1},
        ("bob", 0, "r1"): {"system1": 1, "system0": 3},
        ("ann", 7, "r2"): {"system3": 1, "system4": 2},
    }
    ratings = [
        RatingRow(annotator, system, segment, float(rank), label)
        for (annotator, segment, label), ranks in rankings.items()
        for system, rank in ranks.items()
    ]
    segments = [SegmentRow("system0", 0, -2.0), SegmentRow("system1", 0, -1.5), SegmentRow("system2", 0, -2.0)]
    with writing(engine) as connection:
        new = NewJudgments("rr", JudgmentKind.RANKINGS, {}, [], segments, ratings)
        store_judgments(connection, connection.scalar(select(Campaign.id)), connection.scalar(select(TestSet.id)), new)
    judged = read(engine)
    table = correlate_segments(judged, ["kendall-wmt14"], CorrelationOptions(trials=20))
    # ann: 0 above 1 and 2; 1 and 2 tied; bob: 1 above 0; ann: 3 above 4. system3 and system4 have no scores: not here.
    assert table.statistics[0].unit == "comparisons"
    for row in table.rows:
        scores = dict(zip(judged.systems, row.metric.segments[:, 0], strict=True))
        pairs = [("system0", "system1"), ("system0", "system2"), ("system1", "system0")]
        signs = [np.sign(scores[better] - scores[worse]) for better, worse in pairs]
        assert row.agreements[0].value == pytest.approx(sum(signs) / 3)
        assert row.agreements[0].counted == 3
