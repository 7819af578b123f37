"""Scores of parts of a test set are those of measuring the part alone."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.breakdown.group_scores import break_down
from analysis.breakdown.texts import read_board_texts, read_lengths, read_outputs
from models.corpus.protocols import read_protocol
from steelyard.inspection.partitions import Partition, Passage
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.text.blocks import BLOCK
from tests.analysis.campaigns import REFERENCES, SYSTEMS, joined, opened, store


def measured(segments: list[int], system: str, metric: str) -> float:
    """The score of these segments alone, from the texts."""
    (found,) = score_systems(
        Segments(
            references=[joined([lines[n] for n in segments]) for lines in REFERENCES.values()],
            hypotheses=[joined([SYSTEMS[system][n] for n in segments])],
        ),
        [parse_metric(metric)],
    )
    return float(found.scores[0])


def test_groups_have_the_scores_of_measuring_them_alone(database_url):
    store(database_url)
    partition = Partition("any", ["none", "odd", "even"], np.array([2, 1, 2, 1, -1]))
    with opened(database_url) as (connection, (board,)):
        (found,) = break_down(connection, board, [partition])
    assert partition.sizes == [0, 2, 2]
    assert found.scores.shape == (3, 2, 3)
    assert np.isnan(found.scores[:, :, 0]).all()
    for number, row in enumerate(board.rows):
        for position, metric in enumerate(("bleu:order=1,2", "ter")):
            assert found.scores[number, position, 1] == measured([1, 3], row.system, metric)
            assert found.scores[number, position, 2] == measured([0, 2], row.system, metric)


def test_groups_of_what_several_shards_measured(sqlite_url):
    """Each shard knows its segments by its own first one."""
    times = 2 * BLOCK // 5 + 1
    references, systems = (
        {name: [f"{line} {n}" for n in range(times) for line in lines] for name, lines in texts.items()}
        for texts in (REFERENCES, SYSTEMS)
    )
    store(sqlite_url, references=references, systems=systems, documents=())
    groups = np.repeat([0, 1, 0, 2], [100, BLOCK, 100, 5 * times - 200 - BLOCK])
    with opened(sqlite_url) as (connection, (board,)):
        (found,) = break_down(connection, board, [Partition("any", ["x", "y", "z"], groups)])
    for number, row in enumerate(board.rows):
        for group in range(3):
            there = np.flatnonzero(groups == group)
            (bleu,) = score_systems(
                Segments(
                    references=[joined([lines[n] for n in there]) for lines in references.values()],
                    hypotheses=[joined([systems[row.system][n] for n in there])],
                ),
                [parse_metric("bleu:order=1,2")],
            )
            assert found.scores[number, 0, group] == bleu.scores[0]


def test_all_segments_together_have_the_score_of_the_board(sqlite_url):
    store(sqlite_url, systems={"a@1": SYSTEMS["tug"], "a@2": SYSTEMS["raft"], "b": SYSTEMS["barge"]})
    with opened(sqlite_url) as (connection, (board,)):
        (found,) = break_down(connection, board, [Partition("all", ["all"], np.zeros(5, np.int64))])
        assert any(len(row.runs) == 2 for row in board.rows)
        for number, row in enumerate(board.rows):
            assert [score.score for score in row.scores] == found.scores[number, :, 0].tolist()


def test_what_was_measured_by_a_metric_that_is_gone_has_no_scores(sqlite_url):
    store(sqlite_url)
    with opened(sqlite_url) as (connection, (board,)):
        everything = Partition("all", ["all"], np.zeros(5, np.int64))
        gone = replace(board, listed=replace(board.listed, metrics=("gone:x=1", *board.listed.metrics[1:])))
        (whole,), (found,) = (break_down(connection, each, [everything]) for each in (board, gone))
    assert np.isnan(found.scores[:, 0]).all()
    assert found.scores[:, 1].tolist() == whole.scores[:, 1].tolist()


def test_any_number_of_systems_at_a_time(sqlite_url, monkeypatch):
    store(sqlite_url)
    with opened(sqlite_url) as (connection, (board,)):
        everything = Partition("all", ["all"], np.zeros(5, np.int64))
        (whole,) = break_down(connection, board, [everything])
        for at_once in (1, 2):
            monkeypatch.setattr("analysis.breakdown.group_scores.ROWS_AT_ONCE", at_once)
            (found,) = break_down(connection, board, [everything])
            assert found.scores.tolist() == whole.scores.tolist()


def test_what_is_not_scored_has_no_scores(sqlite_url):
    store(sqlite_url, scored=False)
    with opened(sqlite_url) as (connection, (board,)):
        (found,) = break_down(connection, board, [Partition("all", ["all"], np.zeros(5, np.int64))])
    assert np.isnan(found.scores).all()


def test_what_a_test_set_is_divided_by(database_url):
    store(database_url, source=["s"] * 5)
    with opened(database_url) as (connection, (board,)):
        texts = read_board_texts(connection, board)
    assert texts.references == [joined(lines) for lines in REFERENCES.values()]
    assert texts.source == b"\n".join([b"s"] * 5)
    assert (texts.by_length.groups, texts.by_length.group_of.tolist()) == (["up to 10"], [0] * 5)
    assert texts.documents == [Passage(0, 2, "quay", "news"), Passage(2, 3, "deck", "talk")]


def test_texts_are_those_of_the_boards_own_test_set(sqlite_url):
    """Of two that differ in everything."""
    store(sqlite_url, source=["s"] * 5, documents=(), variable_references=True)
    other = {"A": ["x y", "z"], "B": ["w", "v u t"]}
    documents = [("b", "", ""), ("a", "talk", "")]
    store(sqlite_url, references=other, systems=other, documents=documents, languages=("de", "zh"))
    with opened(sqlite_url) as (connection, boards):
        lengths = [_lengths(connection, each) for each in boards]
        first, second = (read_board_texts(connection, each) for each in boards)
        unheld = read_board_texts(connection, boards[0], held=False)
    if first.segments == 2:
        first, second = second, first
        lengths.reverse()
    assert (first.segments, second.segments) == (5, 2)
    assert (first.source_language, first.target_language, first.variable_references) == ("en", "cs", True)
    assert (second.source_language, second.target_language, second.variable_references) == ("de", "zh", False)
    assert (first.documents, first.source) == ([], b"\n".join([b"s"] * 5))
    assert (second.documents, second.source) == ([Passage(0, 1, "b", ""), Passage(1, 1, "a", "talk")], None)
    assert first.references == [joined(lines) for lines in REFERENCES.values()]
    assert second.references == [joined(lines) for lines in other.values()]
    assert lengths == [[5.5, 3.0, 7.5, 4.0, 1.0], [1.5, 2.0]]
    assert (unheld.source, list(unheld.references)) == (None, [])
    assert unheld.by_length.sizes == [unheld.segments]


def test_of_several_runs_the_output_of_the_first_is_read(sqlite_url):
    store(sqlite_url, systems={"a@1": SYSTEMS["tug"], "a@2": SYSTEMS["raft"]}, scored=False)
    with opened(sqlite_url) as (connection, (board,)):
        assert read_outputs(connection, board.rows, 5) == [joined(SYSTEMS["tug"])]


@pytest.mark.parametrize("language", ["zh", "ja_JP"])
def test_lengths_in_characters(sqlite_url, language):
    text = {"A": ["我们在家里吃饭 再见", "好"]}
    store(sqlite_url, references=text, systems=text, selections=[["A"]], documents=(), languages=("en", language))
    with opened(sqlite_url) as (connection, (board,)):
        assert _lengths(connection, board) == [9, 1]


def _lengths(connection, board):
    protocol = read_protocol(connection, board.listed.protocol_id)
    language = read_board_texts(connection, board).target_language
    parts = read_lengths(connection, protocol.reference_texts, board.listed.segments, language)
    return np.concatenate(list(parts)).tolist()
