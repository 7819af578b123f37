"""Boards from scores of segments: against slow definitions, laws, and what WMT25 published."""

import csv
import math
from dataclasses import replace

import numpy as np
import pytest

from steelyard.errors import BadParameter
from steelyard.formats.scores.reading import read_scores
from steelyard.formats.scores.score_runs import BadScores, ScoredDocument
from steelyard.formats.scores.score_tables import MetricTable, PairScores
from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.ranking.autorank import autorank
from steelyard.ranking.metric_lists import MetricList
from steelyard.ranking.score_boards import RankOptions, score_board
from steelyard.resampling.documents import Documents, few_documents

SEGMENTS = 120


def pair(**tables):
    """Four systems that differ clearly but for the last two, by metrics of which some are errors."""
    draws = np.random.default_rng(7)
    luck = draws.normal(0, 1, SEGMENTS)
    quality = np.array([[3.0], [2.0], [1.0], [0.98]])
    good = MetricTable("good", "segment", quality + luck + draws.normal(0, 0.3, (4, SEGMENTS)))
    errors = MetricTable("errors", "segment", 9 - quality + draws.normal(0, 0.3, (4, SEGMENTS)), higher_is_better=False)
    given = {"good": good, "errors": errors, **tables}
    return PairScores("en-cs", ("c", "a", "d", "b"), tuple(each for each in given.values() if each))


def of(board, name):
    return next(each for each in board.systems if each.system == name)


def test_means_and_intervals_are_those_of_resampled_segments():
    scores = pair()
    options = RankOptions(replicates=200, seed=5, level=0.9)
    board = score_board(scores, options)
    counts = resampling_counts(SEGMENTS, 5, 200, 0, SEGMENTS)
    found = of(board, "a").scores[0]
    assert (found.metric, found.n) == ("good", SEGMENTS)
    assert found.score == pytest.approx(scores.metrics[0].scores[1].mean(), abs=1e-6)
    low, high = found.interval
    assert low < found.score < high
    means = np.sort(counts @ scores.metrics[0].scores[1] / SEGMENTS)
    assert (low, high) == pytest.approx((means[10], means[-11]), abs=1e-6)


def test_intervals_are_of_the_replicates_asked_for_though_tests_take_more():
    """Six tests by Holm need more than a hundred replicates; the printed number is that of the intervals."""
    few, many = (score_board(pair(), RankOptions(replicates=100, correction=each)) for each in ("none", "holm"))
    for one, other in zip(few.systems, many.systems, strict=True):
        assert one.autorank_interval == other.autorank_interval
        assert [each.interval for each in one.scores] == [each.interval for each in other.scores]


def test_ranked_by_autorank_unless_there_is_but_one_metric():
    board = score_board(pair(), RankOptions())
    assert board.by == "autorank:wmt25"
    assert [each.system for each in board.systems][:2] == ["c", "a"]
    assert [each.place.rank for each in board.systems] == [1, 2, 3, 4]
    assert score_board(pair(errors=None), RankOptions()).by == "good"


@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
def test_scores_of_systems_alone_cannot_be_tested_and_are_ranked_as_they_stand(test):
    own = MetricTable("own", "system", np.array([[1.0], [2.0], [4.0], [3.0]]), higher_is_better=False)
    board = score_board(pair(own=own), RankOptions(by="own", test=test))
    assert board.tests == ()
    assert [(each.system, each.place.rank, each.place.cluster) for each in board.systems] == [
        ("c", 1, 1), ("a", 2, 1), ("b", 3, 1), ("d", 4, 1),
    ]  # fmt: skip
    assert {each.place.wins for each in board.systems} == {0}


def test_a_column_of_the_files_may_be_called_autorank():
    own = MetricTable("autorank", "system", np.array([[1.0], [2.0], [4.0], [3.0]]), higher_is_better=False)
    board = score_board(pair(autorank=own), RankOptions(by="autorank"))
    assert board.by == "autorank"
    assert [each.system for each in board.systems] == ["c", "a", "b", "d"]
    assert score_board(pair(autorank=own), RankOptions(by="autorank:wmt25")).by == "autorank:wmt25"


def test_systems_that_are_level_are_in_the_order_of_their_names():
    level = MetricTable("good", "system", np.array([[2.0], [2.0], [2.0], [3.0]]))
    board = score_board(pair(good=level, errors=None), RankOptions())
    assert [each.system for each in board.systems] == ["b", "a", "c", "d"]


def test_of_errors_the_least_is_the_best():
    board = score_board(pair(), RankOptions(by="errors"))
    assert [each.system for each in board.systems][:2] == ["c", "a"]
    assert of(board, "c").scores[1].score < of(board, "a").scores[1].score


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
@pytest.mark.parametrize("by", ["good", "errors"])
def test_clusters_part_what_differs(by, test):
    board = score_board(pair(), RankOptions(by=by, test=test, trials=1000))
    assert of(board, "c").place.cluster == 1
    assert of(board, "a").place.cluster == 2
    assert of(board, "b").place.cluster == of(board, "d").place.cluster == 3
    assert len(board.tests) == 6


def test_the_best_beats_the_worst_by_autorank_though_they_are_1_and_n_in_every_replicate():
    board = score_board(pair(), RankOptions(replicates=99))
    assert of(board, "c").autorank_interval == (1.0, 1.0)
    assert of(board, "c").place.wins == 3
    worst = board.systems[-1].system
    (against,) = [each for each in board.tests if {board.names[each.a], board.names[each.b]} == {"c", worst}]
    assert against.p <= 0.02


def test_differences_of_autoranks_lie_within_their_intervals():
    board = score_board(pair(), RankOptions(replicates=99))
    assert all(each.interval[0] <= each.difference <= each.interval[1] for each in board.tests)
    # An interval of the wrong sign would hold a difference of 0, too: one of these lies below it.
    assert any(each.interval[1] < 0 for each in board.tests)


@pytest.mark.parametrize("by", ["good", "autorank"])
def test_a_correction_counts_all_pairs(by):
    plain, holm = (score_board(pair(), RankOptions(by=by, correction=each)) for each in ("none", "holm"))
    assert [each.p for each in plain.tests] == [each.p for each in holm.tests]
    assert all(one.p_corrected >= other.p_corrected for one, other in zip(holm.tests, plain.tests, strict=True))
    assert any(one.p_corrected > other.p_corrected for one, other in zip(holm.tests, plain.tests, strict=True))


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_as_many_draws_are_made_as_the_correction_needs(test):
    """With 9 draws the smallest p-value of six pairs is 6 / 10; intervals are still those of 9."""
    few, many = (
        score_board(pair(), RankOptions(by="good", replicates=9, trials=trials, test=test, correction="holm"))
        for trials in (9, 5000)
    )
    for board in (few, many):
        assert of(board, "c").place.cluster < of(board, "a").place.cluster < of(board, "b").place.cluster
        counts = resampling_counts(SEGMENTS, 12345, 9, 0, SEGMENTS)
        means = counts @ pair().metrics[0].scores[1] / SEGMENTS
        assert of(board, "a").scores[0].interval == pytest.approx((means.min(), means.max()), abs=1e-6)


def test_the_level_is_that_of_tests_too():
    (alike,) = (each for each in score_board(pair(), RankOptions(by="good")).tests if (each.a, each.b) == (2, 3))
    assert 0.1 < alike.p < 0.9
    lax, strict = (score_board(pair(), RankOptions(by="good", level=1 - alike.p + shift)) for shift in (-0.05, 0.05))
    assert of(lax, "b").place.cluster != of(lax, "d").place.cluster
    assert of(strict, "b").place.cluster == of(strict, "d").place.cluster


def test_segments_without_a_score_are_left_out_of_the_mean_and_counted():
    gaps = pair().metrics[0].scores.copy()
    gaps[1, ::2] = np.nan
    board = score_board(pair(good=MetricTable("good", "segment", gaps)), RankOptions(by="good"))
    found = of(board, "a").scores[0]
    assert (found.n, found.score) == (SEGMENTS // 2, pytest.approx(np.nanmean(gaps[1]), abs=1e-6))
    assert found.interval is not None


def test_a_system_without_scores_is_not_ranked_and_never_0():
    gaps = pair().metrics[0].scores.copy()
    gaps[1] = np.nan
    for by in ("good", "autorank"):
        board = score_board(pair(good=MetricTable("good", "segment", gaps)), RankOptions(by=by))
        last = board.systems[-1]
        assert (last.system, last.place, last.autorank) == ("a", None, None)
        assert math.isnan(last.scores[0].score)
        assert [each.place.rank for each in board.systems[:-1]] == [1, 2, 3]
        tested = [
            not math.isnan(each.p) for each in board.tests if "a" not in (board.names[each.a], board.names[each.b])
        ]
        assert [not math.isnan(each.p) for each in board.tests].count(True) == tested.count(True) == 3
        assert any("a" in each and "not ranked" in each for each in board.notices)
    # By another metric it is.
    assert (
        of(score_board(pair(good=MetricTable("good", "segment", gaps)), RankOptions(by="errors")), "a").place.rank == 2
    )


def test_scores_of_systems_alone_rank_without_intervals_and_tests():
    alone = MetricTable("good", "system", np.array([[1.0], [3.0], [2.0], [0.5]]))
    board = score_board(pair(good=alone, errors=None), RankOptions())
    assert [each.system for each in board.systems] == ["a", "d", "c", "b"]
    assert of(board, "a").scores[0].interval is None
    assert (board.segments, board.tests) == (0, ())
    assert any("no intervals" in each for each in board.notices)
    mixed = score_board(pair(good=alone), RankOptions(by="autorank"))
    assert of(mixed, "a").autorank is not None
    assert of(mixed, "a").autorank_interval is None


def test_only_chosen_metrics_are_shown_and_make_autorank():
    scores = pair()
    board = score_board(scores, RankOptions(by="autorank:wmt24"), MetricList(("errors",)))
    assert board.metrics == ("errors",)
    expected = autorank(np.array([[-each.scores[0].score for each in board.systems]]), "wmt24")
    assert [each.autorank for each in board.systems] == expected.tolist()
    # What ranks need not be shown.
    assert score_board(scores, RankOptions(by="good"), MetricList(("errors",))).systems[0].system == "c"


def test_weights_are_those_of_autorank_and_its_replicates():
    options = RankOptions(by="autorank:wmt24", replicates=50)
    names = tuple(each.name for each in pair().metrics)
    heavy = (9.0, *[1.0] * (len(names) - 1))
    alike, weighed = (score_board(pair(), options, MetricList(names, weights)) for weights in ((), heavy))
    signs = [[1.0 if each.higher_is_better else -1.0] for each in pair().metrics]
    scores = np.array([[score.score for score in each.scores] for each in weighed.systems]).T * signs
    assert [each.autorank for each in weighed.systems] == autorank(scores, "wmt24", heavy).tolist()
    by_name = {each.system: each for each in alike.systems}
    assert any(each.autorank != by_name[each.system].autorank for each in weighed.systems)
    assert any(each.autorank_interval != by_name[each.system].autorank_interval for each in weighed.systems)


def test_what_cannot_be_is_refused():
    for options, told in (
        (RankOptions(by="autorank:wmt99"), "wmt99"),
        (RankOptions(by="autorank", test="randomization"), "randomization"),
        (RankOptions(test="t"), "bootstrap, randomization"),
    ):
        with pytest.raises(BadParameter, match=told):
            score_board(pair(), options)
    for given in ({"by": "x"}, {}):
        with pytest.raises(BadScores, match="no metric"):
            score_board(pair(), RankOptions(**given), MetricList(() if given else ("x",)))


def test_without_replicates_there_are_ranks_alone():
    board = score_board(pair(), RankOptions(replicates=0))
    assert [each.place.rank for each in board.systems] == [1, 2, 3, 4]
    assert {each.place.cluster for each in board.systems} == {1}
    assert board.tests == ()


def test_the_published_boards_of_wmt25(real_data):
    folder = real_data / "wmt25"
    with (folder / "expected_autorank.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    metrics = [name for name in rows[0] if name not in ("pair", "system", "AutoRank", "human_evaluation")]
    found = read_scores([folder / "automatic_scores"])
    assert sorted(each.pair for each in found) == sorted({row["pair"] for row in rows})
    for scores in found:
        own = {row["system"]: row for row in rows if row["pair"] == scores.pair}
        used = MetricList(tuple(each for each in metrics if any(row[each] for row in own.values())))
        board = score_board(scores, RankOptions(replicates=0), used)
        assert own.keys() == {each.system for each in board.systems}
        for line in board.systems:
            assert f"{line.autorank:.1f}" == own[line.system]["AutoRank"]
            for each in line.scores:
                printed = own[line.system][each.metric]
                assert each.score == pytest.approx(
                    float(printed), abs=0.5000001 * 10.0 ** -len(printed.partition(".")[2])
                )


def test_the_seed_is_that_of_draws_and_of_trials():
    for test, options in (("bootstrap", {}), ("randomization", {"trials": 60})):
        boards = [
            score_board(pair(errors=None), RankOptions(replicates=60, seed=seed, test=test, **options))
            for seed in (1, 1, 2)
        ]
        told = [[each.p for each in board.tests] for board in boards]
        assert told[0] == told[1]
        assert told[0] != told[2]


def test_documents_of_one_name_in_two_domains_are_drawn_apart_and_few_are_said():
    documents = tuple(ScoredDocument(domain, "1", SEGMENTS // 2, None) for domain in ("news", "speech"))
    scores = pair(errors=None)
    table = replace(scores.metrics[0], documents=documents)
    options = RankOptions(replicates=50, resample="document")
    board = score_board(replace(scores, metrics=(table,)), options)
    assert board.notices == (few_documents(Documents.from_names([0, 1])),)
    low, high = of(board, "a").scores[0].interval
    halves = table.scores[1].reshape(2, -1).mean(axis=1)
    assert (low, high) == pytest.approx((halves.min(), halves.max()), abs=1e-6)
    nameless = replace(table, documents=(ScoredDocument("", "", SEGMENTS, None),))
    with pytest.raises(BadParameter, match="good: its scores name no documents"):
        score_board(replace(scores, metrics=(nameless,)), options)
    # One of two metrics has few documents, and one scores of systems alone.
    many = replace(table, name="many", documents=tuple(ScoredDocument("", str(n), 1, None) for n in range(SEGMENTS)))
    alone = MetricTable("alone", "system", np.ones((4, 1)))
    board = score_board(replace(scores, metrics=(many, table, alone)), RankOptions(by="many", resample="document"))
    assert few_documents(Documents.from_names([0, 1])) in board.notices
    assert board.segments == SEGMENTS
    board = score_board(replace(scores, metrics=(many, alone)), RankOptions(by="many", resample="document"))
    assert not any("documents" in each for each in board.notices)
    board = score_board(replace(scores, metrics=(alone,)), RankOptions(resample="document"))
    assert board.notices == ("en-cs: scores of systems alone have no intervals and no tests: alone.",)
