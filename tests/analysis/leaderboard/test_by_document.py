"""What is made of a leaderboard whose replicates draw documents: more draws, BCa intervals, correlations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import Engine

from analysis.leaderboard.board import Board, read_board
from analysis.leaderboard.more_replicates import with_enough_draws
from models.database.session import reading
from models.results.boards import list_boards
from models.schema.states import ResamplingUnit
from steelyard.meta_evaluation.correlation import CorrelationOptions, correlate_segments, correlate_systems
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.documents import Documents
from steelyard.resampling.jackknife import leave_one_out
from tests.analysis.judged import METRICS, SEGMENTS, SYSTEMS, human_scores, judge, read, scored_campaign
from tests.scheduler.jobs import similar_text, some_text

# Of different lengths, and one in two pieces.
NAMES = [f"d{number % 11 if number < 40 else 20}" for number in range(SEGMENTS)]
DOCUMENTS = Documents.from_names(NAMES)


@pytest.fixture
def engine(sqlite_url: str) -> Iterator[Engine]:
    engine = scored_campaign(sqlite_url, documents=NAMES, resample=ResamplingUnit.DOCUMENT)
    yield engine
    engine.dispose()


def board_of(engine: Engine, **others: str) -> Board:
    with reading(engine) as connection:
        (listed,) = list_boards(connection)
        return read_board(connection, listed, 0.95, **others)


def texts() -> Segments:
    reference = some_text(SEGMENTS, 1)
    return Segments(
        references=[reference], hypotheses=[similar_text(reference, 1000 + number) for number in range(SYSTEMS)]
    )


def test_more_draws_are_of_documents_too(engine: Engine) -> None:
    board = board_of(engine)
    with reading(engine) as connection:
        more = with_enough_draws(connection, board, range(len(METRICS)), "holm")
    assert more.draws > board.listed.replicates
    expected = score_systems(
        texts(), [parse_metric(each) for each in METRICS], replicates=more.draws, documents=DOCUMENTS
    )
    for metric, of_metric in enumerate(expected):
        for row, found in zip(more.rows, more.tested_replicates(metric), strict=True):
            np.testing.assert_array_equal(found, of_metric.replicate_scores[int(row.system[-1])])


def test_bca_leaves_out_one_document_at_a_time(engine: Engine) -> None:
    board = board_of(engine, interval_kind="bca")
    kept = score_systems(texts(), [parse_metric(each) for each in METRICS], keep_statistics=True)
    for row in board.rows:
        for metric, score in enumerate(row.scores):
            statistics = kept[metric].statistics
            assert statistics is not None
            of_documents = DOCUMENTS.added_up(statistics)[int(row.system[-1])]
            found = board.left_out[score]
            assert found.shape == (DOCUMENTS.count,)
            np.testing.assert_allclose(found, leave_one_out(parse_metric(METRICS[metric]), of_documents), rtol=1e-12)


def test_correlations_draw_what_the_metrics_draw(engine: Engine) -> None:
    judge(engine, human_scores())
    judged = read(engine)
    assert judged.documents is not None
    np.testing.assert_array_equal(judged.documents.of_segment, DOCUMENTS.of_segment)
    for correlate, name in ((correlate_systems, "pearson"), (correlate_segments, "pearson")):
        table = correlate(judged, [name], CorrelationOptions(replicates=20, trials=0))
        assert {each.agreements[0].resampled for each in table.rows} == {"documents"}
        segments = replace(judged, documents=None)
        by_segment = correlate(segments, [name], CorrelationOptions(replicates=20, trials=0))
        for one, other in zip(table.rows, by_segment.rows, strict=True):
            assert one.agreements[0].value == other.agreements[0].value
            assert not np.array_equal(one.agreements[0].replicates, other.agreements[0].replicates)
