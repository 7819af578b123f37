"""What a board tells of its rows, one made by hand: names, remarks, intervals, what tests rest on."""

import math
from dataclasses import replace

import numpy as np
import pytest

from analysis.leaderboard.board import position_of_metric, read_board, remark, same_output_pairs, spread_of_runs
from analysis.leaderboard.significance import ranked_by_bootstrap
from steelyard.metrics.registry import parse_metric
from steelyard.resampling.interval import interval
from tests.analysis.boards import made_board, spread, undefined
from tests.analysis.campaigns import REFERENCES, SYSTEMS, opened, store

N = 60


@pytest.fixture
def board():
    """a and c are scored, b waits, d is undefined by BLEU."""
    return made_board(
        [
            [spread(40.0, N, 0.5, 1), spread(30.0, N, 0.5, 11)],
            None,
            [spread(38.0, N, 0.5, 2), spread(34.0, N, 0.5, 12)],
            [undefined(N), spread(35.0, N, 0.5, 13)],
        ]
    )


def changed(board, row, **values):
    rows = list(board.rows)
    rows[row] = replace(rows[row], **values)
    return replace(board, rows=rows)


def test_what_was_measured(board):
    assert board.title == "port, reference A"
    assert replace(board, listed=replace(board.listed, references=("A", "B"))).title == "port, references A + B"
    assert board.titles == ["BLEU", "TER ↓"]
    assert changed(board, 0, scores=()).titles == ["BLEU", "TER ↓"]
    assert made_board([None, None]).titles == ["bleu", "ter"]


def test_scores_and_their_direction(board):
    np.testing.assert_array_equal(board.scores(0), [40.0, math.nan, 38.0, math.nan])
    np.testing.assert_array_equal(board.scores(1), [30.0, math.nan, 34.0, 35.0])
    assert [board.higher_is_better(metric) for metric in range(2)] == [True, False]
    assert made_board([None]).higher_is_better(0)


def test_intervals(board):
    first, third = board.rows[0].scores[0], board.rows[2].scores[0]
    assert board.interval(first) == interval("percentile", first.replicate_scores, 0.95)
    assert board.interval(board.rows[3].scores[0]) is None
    assert board.interval(replace(first, replicate_scores=np.zeros(0))) is None
    differences = third.replicate_scores - first.replicate_scores
    assert board.interval_of_difference(0, 0, 2) == interval("percentile", differences, 0.95)
    assert board.interval_of_difference(0, 0, 3) is board.interval_of_difference(0, 3, 0) is None
    # Where a score is undefined all its replicates are, too.
    expected = [board.interval_of_difference(0, a, b) for a, b in ((0, 2), (2, 0), (0, 3))]
    assert board.intervals_of_differences(0, [(0, 2), (2, 0), (0, 3)]) == expected
    # A score that is undefined has no difference, though some of its replicates were defined.
    odd = made_board([[(40.0, [1.0, 2.0]), (1.0, [1.0, 2.0])], [(None, [3.0, 4.0]), (2.0, [1.0, 2.0])]])
    assert odd.intervals_of_differences(0, [(0, 1), (1, 0)]) == [None, None]
    assert None not in odd.intervals_of_differences(1, [(0, 1)])
    bare = made_board([[(40.0, []), (1.0, [])], [(30.0, []), (2.0, [])]])
    assert bare.interval_of_difference(0, 0, 1) is None
    assert bare.intervals_of_differences(0, [(0, 1)]) == [None]


def test_bca_intervals_are_made_of_what_is_left_out(board):
    draw = np.random.default_rng(5)
    scores = [board.rows[row].scores[0] for row in (0, 2)]
    left_out = {score: score.score + draw.gamma(0.05, size=9) for score in scores}
    corrected = replace(board, interval_kind="bca", left_out=left_out)
    first, third = scores
    assert corrected.interval(replace(first, replicate_scores=np.zeros(0))) is None
    assert corrected.interval(first) == interval("bca", first.replicate_scores, 0.95, first.score, left_out[first])
    differences = third.replicate_scores - first.replicate_scores
    expected = interval("bca", differences, 0.95, third.score - first.score, left_out[third] - left_out[first])
    assert corrected.interval_of_difference(0, 0, 2) == expected
    assert corrected.intervals_of_differences(0, [(0, 2)]) == [expected]
    assert expected != interval("percentile", differences, 0.95)


def test_what_tests_rest_on(board):
    tested = board.tested_replicates(0)
    np.testing.assert_array_equal(tested[0], board.rows[0].scores[0].replicate_scores)
    np.testing.assert_array_equal(tested[2], board.rows[2].scores[0].replicate_scores)
    assert np.isnan(tested[1]).all()
    assert board.draws == N
    scores = [board.rows[row].scores[0] for row in (0, 2, 3)]
    more = replace(board, more_replicates={score: np.full(100, number) for number, score in enumerate(scores)})
    assert more.draws == 100
    assert [row[99] for row in more.tested_replicates(0)[[0, 2, 3]].tolist()] == [0, 1, 2]
    assert np.isnan(more.tested_replicates(0)[1]).all()
    assert made_board([None]).tested_replicates(0).shape == (1, 0)


def test_names(board):
    row = board.rows[0]
    assert board.name(row) == "a"
    assert board.name(replace(row, team="crew")) == "crew/a"
    assert board.name(replace(row, runs=("x", "y"))) == "a (2 runs)"
    assert board.name(replace(row, runs=("x",))) == "a (1 run)"
    assert board.name(replace(row, runs=("", "y"))) == "a (2 runs)", "of which one has no name"
    assert board.name(replace(row, twice=True)) == "a #1"
    numbered = replace(board, numbered=True)
    assert numbered.name(replace(row, runs=("x",))) == "a (run x) #1"
    assert numbered.name(replace(row, runs=("x", "y"), submissions=(3, 4))) == "a (2 runs) #3,4"


def test_remarks(board):
    first, waiting = board.rows[:2]
    assert board.remark(first) == ""
    assert board.remark(waiting) == "queued"
    assert board.remark(replace(waiting, reason="too long")) == "queued: too long"
    assert board.remark(replace(waiting, runs=("x", "y"), runs_done=1)) == "1 of 2 runs done; queued"
    assert board.remark(replace(first, late_seconds=0.5, ranked=False)) == "not ranked, late"
    told = replace(board, same_output={(1,): "c"}, same_as_reference={(1,): "A"})
    assert told.remark(told.rows[0]) == "same as reference A, same output as c"
    assert remark("", "contrastive", ranked=False, late=False) == "contrastive"
    assert remark("", "contrastive", ranked=True, late=True) == "late"


def test_some_of_the_rows(board):
    some = board.only([3, 0])
    assert [row.system for row in some.rows] == ["a", "d"]
    assert ranked_by_bootstrap(board).only([3, 0]).ranking is None, "it was of other rows"
    teams = changed(changed(board, 0, team="crew"), 2, team="crew")
    left = teams.excluding(["crew/a", "d"])
    assert ([row.system for row in left.rows], left.without) == (["b", "c"], ("crew/a", "d"))
    assert [row.system for row in teams.excluding(["a"]).rows] == ["b", "c", "d"]
    assert [row.system for row in changed(board, 0, twice=True).excluding(["a #1"]).rows] == ["b", "c", "d"]
    again = left.excluding(["b"])
    assert again.without == ("b", "crew/a", "d")
    assert changed(board, 2, ranked=False).ranked_rows == [0, 1, 3]


def test_a_metric_is_found_by_specification_title_and_name():
    metrics = ["bleu:order=1", "chrf:nw=2", "gone:x=1", "bleu"]
    assert position_of_metric(metrics, None) == 0
    assert position_of_metric(metrics, "bleu") == 3, "the very same before one of the same name"
    assert position_of_metric(metrics, "bleu:case=mixed:order=1") == 0, "the same, written in full"
    assert position_of_metric(metrics, "CHRF2++") == 1
    assert position_of_metric(metrics, "chrf") == 1
    assert position_of_metric(metrics, "gone") == position_of_metric(metrics, "gone:x=1") == 2
    assert position_of_metric(metrics, "ter") is None
    assert position_of_metric(metrics, "chrf:nw=1") is None
    alike = ["chrf:case=lc", "chrf"]
    assert [position_of_metric(alike, title) for title in ("chrF2", "chrF2 (case=lc)")] == [1, 0], "as boards show them"


def test_autorank_alone_means_the_newest_of_those_on_the_board():
    older, newest = "autorank:rule=wmt24:of=1", "autorank:rule=wmt25:of=1"
    assert position_of_metric(["bleu", older, newest], "autorank") == 2
    assert position_of_metric(["bleu", older], "autorank") == 1
    assert position_of_metric(["bleu", older, newest], "autorank:rule=wmt24") == 1
    assert position_of_metric(["bleu", older], "autorank:rule=wmt25") is None


def test_the_spread_of_runs(board):
    score = replace(
        board.rows[0].scores[0],
        score=20.0,
        run_scores=(10.0, 30.0),
        run_replicate_scores=np.array([[9.0, 11], [29, 31]]),
    )
    spread_found = spread_of_runs(score)
    assert (spread_found.runs, spread_found.score) == (2, 20.0)
    assert spread_found.selection == pytest.approx(math.sqrt(2))
    assert spread_of_runs(replace(score, score=None)) is None


def test_runs_are_the_same_output_only_if_all_of_them_are(sqlite_url):
    one, other = SYSTEMS["tug"], SYSTEMS["raft"]
    systems = {"barge@1": one, "barge@2": other, "punt@1": one, "punt@2": one, "tug@1": one, "tug@2": other}
    store(sqlite_url, systems=systems, replicates=0)
    with opened(sqlite_url) as (_, (board,)):
        remarks = {row.system: board.remark(row) for row in board.rows}
    assert remarks["punt"] == ""
    same = {remarks["barge"], remarks["tug"]}
    assert same in ({"", "same output as barge (2 runs)"}, {"", "same output as tug (2 runs)"})


def test_submissions_of_several_campaigns_are_on_one_board_if_they_are_named(sqlite_url):
    store(sqlite_url, replicates=20)
    store(sqlite_url, replicates=20, campaign="bay", systems={"ferry": SYSTEMS["barge"]})
    with opened(sqlite_url) as (connection, (board, other)):
        assert board.listed.protocol_id == other.listed.protocol_id
        (first,) = (row.submissions[0] for row in board.rows if row.system == "barge")
        ((second,),) = (row.submissions for row in other.rows)
        named = read_board(connection, board.listed, 0.95, submissions=[first, second])
    assert {(row.system, row.submissions) for row in named.rows} == {("barge", (first,)), ("ferry", (second,))}
    assert {row.system for row in board.rows} == set(SYSTEMS)


def test_outputs_that_are_the_same_or_a_reference(sqlite_url):
    systems = {**SYSTEMS, "copy": SYSTEMS["barge"], "human": REFERENCES["A"]}
    store(sqlite_url, systems=systems, replicates=20)
    with opened(sqlite_url) as (connection, (board,)):
        remarks = {row.system: board.remark(row) for row in board.rows}
        places = {row.system: number for number, row in enumerate(board.rows)}
        assert same_output_pairs(connection, board) == {
            (places["barge"], places["copy"]),
            (places["copy"], places["barge"]),
        }
        assert read_board(connection, board.listed, 0.95, "nothing") is None
        by_ter = read_board(connection, board.listed, 0.9, "ter", interval_kind="bca")
    upper, lower = sorted(("barge", "copy"), key=places.__getitem__)
    assert remarks.pop(lower) == f"same output as {upper}"
    assert remarks.pop("human") == "same as reference A"
    assert set(remarks.values()) == {""}
    assert (by_ter.sorted_by, by_ter.level, by_ter.numbered, by_ter.not_ranked) == (1, 0.9, False, 0)
    assert by_ter.scores(1).tolist() == sorted(by_ter.scores(1).tolist())
    assert not board.left_out
    for row in by_ter.rows:
        output = systems[row.system]
        for score in row.scores:
            metric = parse_metric(score.specification)
            without = [
                metric.corpus_score(
                    output[:n] + output[n + 1 :], [lines[:n] + lines[n + 1 :] for lines in REFERENCES.values()]
                ).score
                for n in range(5)
            ]
            assert by_ter.left_out[score].tolist() == without, score.title
