"""Systems over many test sets."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.ranking.rank_matrix import RankedScore, rank_matrix
from steelyard.tables.rank_matrix import tables_of
from steelyard.tables.rendering import render

BOARDS = {
    "en-cs": {
        "tug": RankedScore(50.0, 1, 1, 2, 1),
        "raft": RankedScore(49.0, 2, 1, 2, 1),
        "barge": RankedScore(9.0, 3, 3, 3, 2),
    },
    "en-de": {"barge": RankedScore(30.0, 1, 1, 1, 1), "tug": RankedScore(20.0, 2, 2, 2, 2)},
    "en-zh": {"tug": RankedScore(10.0, 1), "raft": RankedScore(math.nan), "sloop": RankedScore(10.0, 1)},
}


def test_those_without_gaps_come_first():
    matrix = rank_matrix(BOARDS)
    assert matrix.systems == ("tug", "sloop", "barge", "raft")
    assert [matrix.mean_ranks[each] for each in matrix.systems] == pytest.approx([4 / 3, 1, 2, 2])
    assert [matrix.gaps(each) for each in matrix.systems] == [0, 2, 1, 2]
    assert [matrix.best(each) for each in matrix.test_sets] == [{"tug"}, {"barge"}, {"tug", "sloop"}]


def test_gaps_are_empty_and_no_zeros():
    scores, ranks = tables_of(rank_matrix(BOARDS), "BLEU")
    text = render([scores], "tsv").splitlines()
    assert text[0].split("\t") == ["system", "mean_rank", "gaps", "en-cs", "en-de", "en-zh"]
    assert [line.split("\t")[3:] for line in text[1:]] == [
        ["50.0", "20.0", "10.0"],
        ["", "", "10.0"],
        ["9.0", "30.0", ""],
        ["49.0", "", ""],
    ]
    assert scores.best == {(0, 3), (2, 4), (0, 5), (1, 5)}
    assert render([ranks], "text").splitlines()[3].split() == ["tug", "1.3", "0", "1-2", "2"]
    assert len(tables_of(rank_matrix({"en-zh": BOARDS["en-zh"]}), "BLEU")) == 1, "nothing was tested"


def test_mean_autoranks_stand_beside_mean_ranks():
    """A system without one has an empty cell, and the best scores are stressed where they are."""
    scores, ranks = tables_of(replace(rank_matrix(BOARDS), autoranks={"tug": 1.25, "raft": 3.0}), "BLEU")
    for table in (scores, ranks):
        lines = [line.split("\t") for line in render([table], "tsv").splitlines()]
        assert [(line[0], line[2]) for line in lines] == [
            ("system", "autorank"),
            ("tug", "1.25"),
            ("sloop", ""),
            ("barge", ""),
            ("raft", "3.0"),
        ]
        assert table.best == {(0, 4), (2, 5), (0, 6), (1, 6)}


NAMES = st.sampled_from("abcd")


@given(st.dictionaries(st.sampled_from("xyz"), st.dictionaries(NAMES, st.integers(1, 9), min_size=1), min_size=1))
def test_mean_ranks(ranks):
    matrix = rank_matrix(
        {key: {name: RankedScore(0.0, rank) for name, rank in row.items()} for key, row in ranks.items()}
    )
    for name in matrix.systems:
        given_ranks = [row[name] for row in ranks.values() if name in row]
        assert matrix.mean_ranks[name] == pytest.approx(sum(given_ranks) / len(given_ranks))
        assert matrix.gaps(name) == len(ranks) - len(given_ranks)
    complete = [name for name in matrix.systems if not matrix.gaps(name)]
    assert list(matrix.systems[: len(complete)]) == complete
