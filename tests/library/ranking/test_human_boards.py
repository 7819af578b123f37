"""Which rule a specification names, and what a board says of few judgments."""

from dataclasses import replace
from itertools import accumulate, product

import numpy as np
import pytest

from steelyard.errors import BadParameter
from steelyard.meta_evaluation.human.assessments import AssessedPair
from steelyard.ranking.clusters import SystemRank
from steelyard.ranking.human_boards import human_board, parse_human_rule
from steelyard.ranking.human_rules import Trials
from steelyard.ranking.score_boards import BoardSystem, ScoreBoard
from steelyard.tables import human_boards, score_boards


def judged(places, systems=2):
    draws = np.random.default_rng(3)
    scores = draws.integers(0, 100, (systems, places)).astype(float)
    names = tuple("abcd"[:systems])
    return AssessedPair("en-cs", names, scores, ("news",) * places, tuple(range(places)))


@pytest.mark.parametrize(
    ("rule", "places", "said"),
    [
        # Of each system on average, and of all together; as many as WMT kept are enough.
        ("human:wmt24", 99, "99 judgments a system are few: WMT left out pairs with fewer than 100."),
        ("human:wmt24", 100, None),
        ("human:wmt25", 249, "498 judgments are few: WMT left out pairs with fewer than 500."),
        ("human:wmt25", 250, None),
        ("human", 5, None),
    ],
)
def test_fewer_judgments_than_wmt_kept_are_said(rule, places, said):
    notices = human_board(judged(places), parse_human_rule(rule, Trials(trials=5))).notices
    assert list(notices) == ([] if said is None else [f"en-cs: {said}"])


@pytest.mark.parametrize("rule", ["human", "human:wmt24", "human:wmt25"])
def test_a_system_that_nobody_judged_is_named_and_not_ranked(rule):
    pair = judged(500, systems=4)
    scores = pair.scores.copy()
    scores[[1, 3]] = np.nan
    trials = Trials(trials=5)
    board = human_board(replace(pair, scores=scores), parse_human_rule(rule, trials))
    assert board.notices == ("en-cs: not judged: b, d.",)
    assert {name for name, _ in board.systems} == {"a", "c"}
    alone = human_board(replace(pair, systems=("a", "c"), scores=scores[[0, 2]]), parse_human_rule(rule, trials))
    assert [(name, each.score, each.rank_low, each.rank_high, each.cluster) for name, each in board.systems] == [
        (name, each.score, each.rank_low, each.rank_high, each.cluster) for name, each in alone.systems
    ]


@pytest.mark.parametrize(
    ("rule", "domains", "said"),
    [
        ("human", ("news", "", ""), "the domain of some segments is not known"),
        ("human:wmt24", ("", "", ""), "the domain of any segments is not known"),
        ("human", ("news", "talk", "news"), None),
        # All segments count alike.
        ("human:average=micro", ("news", "", ""), None),
        ("human:wmt25", ("news", "", ""), None),
    ],
)
def test_unknown_domains_are_said_where_they_count(rule, domains, said):
    notices = human_board(replace(judged(3), domains=domains), parse_human_rule(rule, Trials(trials=5))).notices
    about = [notice for notice in notices if "domain" in notice]
    assert len(about) == (said is not None)
    assert not about or said in about[0]


@pytest.mark.parametrize("steps", list(product((False, True), repeat=3)))
def test_a_line_stands_between_two_clusters_and_nowhere_else(steps):
    """In tables of scores by people and by metrics: below the last system of a cluster."""
    clusters = list(accumulate(steps, initial=1))
    lines = {place for place, parted in enumerate(steps, 1) if parted}
    board = human_board(judged(5, systems=4), parse_human_rule("human", Trials(trials=5)))
    ranked = zip(board.systems, clusters, strict=True)
    parted = tuple((name, replace(found, cluster=cluster)) for (name, found), cluster in ranked)
    assert human_boards.table_of(replace(board, systems=parted)).rules == lines
    for unranked in (0, 2):
        places = [SystemRank(1, 1, 1, cluster, 0, (1, 1)) for cluster in clusters] + [None] * unranked
        systems = tuple(BoardSystem(str(at), place, None, None, ()) for at, place in enumerate(places))
        shown = score_boards.table_of(ScoreBoard("en-cs", 5, (), "A", systems, (), ()))
        assert shown.rules == lines | ({4} if unranked else set())


def test_our_own_rule_tests_what_annotators_have_nothing_to_do_with():
    """Scores that differ by the severity of those who gave them alone do not part two systems."""
    draws = np.random.default_rng(3)
    scores = draws.integers(20, 60, (2, 60)) + np.array([[30.0], [0.0]])
    pair = AssessedPair("en-cs", ("a", "b"), scores, ("news",) * 60, tuple(range(60)))
    severe = replace(pair, adjusted=scores - np.array([[30.0], [0.0]]))
    clusters = {
        name: [[each.cluster for _, each in human_board(judged, parse_human_rule(name)).systems] for judged in given]
        for name, given in (("human", (pair, severe)), ("human:wmt25", (pair, severe)))
    }
    assert clusters == {"human": [[1, 2], [1, 1]], "human:wmt25": [[1, 2], [1, 2]]}


@pytest.mark.parametrize(
    ("written", "name", "average", "specification"),
    [
        ("human", "randomization", "macro", "human"),
        ("human:randomization", "randomization", "macro", "human"),
        ("human:average=micro", "randomization", "micro", "human:average=micro"),
        ("human:wmt24", "wmt24", "macro", "human:wmt24"),
        ("human:wmt24:average=macro", "wmt24", "macro", "human:wmt24"),
        ("human:wmt24:average=micro", "wmt24", "micro", "human:wmt24:average=micro"),
        ("human:wmt25", "wmt25", "macro", "human:wmt25"),
    ],
)
def test_rules_by_name(written, name, average, specification):
    trials = Trials(trials=7, seed=3)
    rule = parse_human_rule(written, trials)
    assert (rule.name, rule.average, rule.specification, rule.trials) == (name, average, specification, trials)
    assert parse_human_rule(rule.specification, trials) == rule


@pytest.mark.parametrize(
    "written",
    ["people", "human:wmt23", "human:wmt25:average=micro", "human:average=median", "human:mean=micro",
     "human:wmt24:average=micro:average=macro"],
)  # fmt: skip
def test_what_is_no_rule(written):
    with pytest.raises(BadParameter):
        parse_human_rule(written)
