"""Leaderboards: ranks, ties, undefined scores, systems without a score."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, delete, insert, select

from analysis.leaderboard.board import Board
from models.corpus.protocols import read_protocol
from models.database.session import make_engine, reading, writing
from models.errors import NotFound
from models.queue_status.progress import read_progress
from models.results.boards import BoardSummary
from models.results.leaderboard import constrained_of, ranked, read_leaderboard, read_selected_systems
from models.schema.corpus import Submission, System
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.storage.arrays import pack
from runtime.settings import Settings
from scheduler.ingest.campaigns import IngestResult, NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from tests.models.results.scored_runs import set_state, with_runs

NAMES = ("anna", "bert", "carl", "dora", "emil", "fred")
FIRST = (30.0, 40.0, 30.0, None)
SECOND = (0.5, 0.7, None, 0.6)
"""A metric where lower is better."""


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    return make_engine(sqlite_url)


@pytest.fixture
def board(engine: Engine, sqlite_url: str) -> IngestResult:
    """anna, bert, carl and dora are done, emil failed, fred waits."""
    job = ingest_campaign(
        engine,
        Settings(database_url=sqlite_url),
        campaign="one",
        test_set=NewTestSet("t", {"A": b"x\ny"}),
        submissions=[NewSubmission(name, f"{name}\ny".encode()) for name in NAMES],
        protocols=[NewProtocol(["A"], [parse_metric("bleu"), parse_metric("bleu:order=2")])],
    )
    common = {"signature": "s", "scale": 100.0, "columns": ["n"], "sums": pack(np.ones((1, 1)))}
    with writing(engine) as connection:
        for position, evaluation in enumerate(job.evaluations[0][:4]):
            for metric, scores in enumerate((FIRST, SECOND)):
                row = {
                    "evaluation_id": evaluation,
                    "metric": metric,
                    "specification": f"m{metric}",
                    "title": f"M{metric}",
                    "higher_is_better": metric == 0,
                    "score": scores[position],
                    "replicate_scores": pack(np.array([1.5, np.nan]) * position),
                }
                connection.execute(insert(Score).values(**common, **row))
            set_state(connection, evaluation, "done")
        set_state(connection, job.evaluations[0][4], "failed", "it was too long")
    return job


def names_and_ranks(engine: Engine, protocol: int, metric: int) -> list[tuple[str, int | None]]:
    with reading(engine) as connection:
        rows = read_leaderboard(connection, protocol, sort_metric=metric)
    return [(row.system, row.scores[metric].rank if row.scores else None) for row in rows]


def test_best_first_and_ties_share_a_rank(engine: Engine, board: IngestResult) -> None:
    rest = [("dora", None), ("emil", None), ("fred", None)]
    assert names_and_ranks(engine, board.protocols[0], 0) == [("bert", 1), ("anna", 2), ("carl", 2), *rest]


def test_less_is_better_where_the_metric_says_so(engine: Engine, board: IngestResult) -> None:
    rest = [("carl", None), ("emil", None), ("fred", None)]
    assert names_and_ranks(engine, board.protocols[0], 1) == [("anna", 1), ("dora", 2), ("bert", 3), *rest]


def test_what_a_row_says(engine: Engine, board: IngestResult) -> None:
    with reading(engine) as connection:
        rows = {row.system: row for row in read_leaderboard(connection, board.protocols[0])}
    assert rows["emil"].state == "failed"
    assert rows["emil"].reason == "it was too long"
    assert rows["fred"].state == "queued"
    assert rows["fred"].scores == rows["emil"].scores == ()
    first, second = rows["bert"].scores
    assert (first.title, first.specification, first.score, first.higher_is_better) == ("M0", "m0", 40.0, True)
    assert (second.title, second.score, second.higher_is_better) == ("M1", 0.7, False)
    assert first.replicate_scores.shape == (2,)
    assert first.replicate_scores[0] == 1.5
    assert np.isnan(first.replicate_scores[1])
    assert rows["dora"].scores[0].score is None


def test_a_system_stands_with_its_last_submission(engine: Engine, board: IngestResult, sqlite_url: str) -> None:
    again = ingest_campaign(
        engine,
        Settings(database_url=sqlite_url),
        campaign="one",
        test_set=NewTestSet("t", {"A": b"x\ny"}),
        submissions=[NewSubmission("bert", b"better\ny")],
        protocols=[NewProtocol(["A"], [parse_metric("bleu"), parse_metric("bleu:order=2")])],
    )
    assert again.protocols == board.protocols
    with reading(engine) as connection:
        rows = read_leaderboard(connection, board.protocols[0])
        assert [row.submissions[0] for row in rows if row.system == "bert"] == list(again.submissions)
        every = read_leaderboard(connection, board.protocols[0], all_submissions=True)
        assert [row.system for row in every if row.system == "bert"] == ["bert"] * 2
        nothing = read_leaderboard(connection, board.protocols[0], campaign_id=board.campaign_id + 1)
        assert nothing == []
        assert connection.scalar(select(System.id).join(Submission).where(System.name == "bert").limit(1))


def test_what_is_not_there(engine: Engine, board: IngestResult) -> None:
    with reading(engine) as connection:
        with pytest.raises(NotFound, match="no protocol 99"):
            read_leaderboard(connection, 99)
        with pytest.raises(NotFound, match="has 2 metrics; there is no number 3"):
            read_leaderboard(connection, board.protocols[0], sort_metric=2)
        with pytest.raises(NotFound, match=r"^There is no protocol 99\.$"):
            read_protocol(connection, 99)
        known = board.all_evaluations[0]
        with pytest.raises(NotFound, match=f"^Protocol {board.protocols[0]} has no evaluation 99.$"):
            read_selected_systems(connection, board.protocols[0], [(known,), (99,)])


def test_progress_counts(engine: Engine, board: IngestResult) -> None:
    with reading(engine) as connection:
        progress = read_progress(connection, board.all_evaluations)
        assert (progress.done, progress.failed, progress.queued, progress.open) == (4, 1, 1, 1)
        assert (progress.shards, progress.shards_done) == (1, 0)
        assert read_progress(connection, board.all_evaluations[:5]).open == 0
        rows = read_leaderboard(connection, board.protocols[0])
        assert {row.evaluations[0]: row.reason for row in rows if row.reason} == {
            board.all_evaluations[4]: "it was too long"
        }


@given(scores=st.dictionaries(st.integers(0, 20), st.sampled_from([1.0, 2.0, 3.0, 4.5])), higher=st.booleans())
def test_a_rank_is_one_more_than_the_number_of_better_scores(scores: dict[int, float], higher: bool) -> None:
    for key, rank in ranked(scores, higher).items():
        better = [s for s in scores.values() if (s > scores[key] if higher else s < scores[key])]
        assert rank == len(better) + 1


def test_a_system_of_several_runs_has_the_means_of_theirs(engine: Engine, sqlite_url: str) -> None:
    found = {("anna", "b"): [40.0, 39.0, 43.0], ("anna", "B"): [60.0, 59.0, None], ("bert", ""): [50.0, 51.0, 52.0]}
    protocol = with_runs(engine, sqlite_url, found)
    with reading(engine) as connection:
        first, second = read_leaderboard(connection, protocol)
    assert (first.system, first.runs, first.runs_done) == ("anna", ("B", "b"), 2)
    assert (second.system, second.runs, second.runs_done) == ("bert", ("",), 1)
    (score,) = first.scores
    assert (score.score, score.run_scores, score.rank) == (50.0, (60.0, 40.0), 1)
    assert second.scores[0].rank == 1, "equal means share a rank"
    assert score.replicate_scores[0] == 49.0
    assert np.isnan(score.replicate_scores[1])
    assert score.details == {"BP": 0.7}, "only what all runs have"
    assert len({*first.evaluations, *second.evaluations}) == 3
    assert len(first.submissions) == 2


def test_a_system_is_not_ranked_before_all_its_runs_are_done(engine: Engine, sqlite_url: str) -> None:
    found = {("anna", "1"): [40.0], ("anna", "2"): "too long", ("anna", "3"): [41.0], ("bert", "1"): [1.0]}
    found |= {("carl", "1"): [90.0], ("carl", "2"): "", ("dora", "1"): [40.0], ("dora", "2"): [None]}
    protocol = with_runs(engine, sqlite_url, found)
    with reading(engine) as connection:
        rows = read_leaderboard(connection, protocol)
    assert [row.system for row in rows] == ["bert", "anna", "carl", "dora"]
    anna, carl, dora = rows[1:]
    assert (anna.scores, anna.state, anna.reason, anna.runs_done) == ((), "failed", "too long", 2)
    assert (carl.scores, carl.state, carl.reason, carl.runs_done) == ((), "queued", None, 1)
    assert (dora.scores[0].score, dora.scores[0].rank, dora.state) == (None, None, "done")
    listed = BoardSummary(protocol, 1, "one", "t", "1", ("A",), ("bleu",), 0, 1, 2)
    board = Board(listed=listed, level=0.95, sorted_by=0, rows=rows, same_output={})
    assert [board.name(row) for row in rows] == ["bert (1 run)", "anna (3 runs)", "carl (2 runs)", "dora (2 runs)"]
    remarks = ["", "2 of 3 runs done; failed: too long", "1 of 2 runs done; queued", ""]
    assert [board.remark(row) for row in rows] == remarks


@pytest.mark.parametrize("named_last", [True, False])
def test_runs_replace_an_output_without_runs_and_the_other_way_round(
    engine: Engine, sqlite_url: str, named_last: bool
) -> None:
    alone, several = {("anna", ""): [10.0]}, {("anna", "1"): [20.0], ("anna", "2"): [30.0]}
    for found in (alone, several) if named_last else (several, alone):
        protocol = with_runs(engine, sqlite_url, found)
    with reading(engine) as connection:
        (row,) = read_leaderboard(connection, protocol)
        every = read_leaderboard(connection, protocol, all_submissions=True)
    assert row.scores[0].score == (25.0 if named_last else 10.0)
    assert sorted(each.scores[0].score for each in every) == ([10.0, 25.0] if named_last else [10.0, 20.0, 30.0])


number = st.floats(0, 100, allow_nan=False, width=32) | st.none()


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=st.lists(st.lists(number, min_size=3, max_size=3), min_size=1, max_size=5), names=st.randoms())
def test_means_of_runs(engine: Engine, sqlite_url: str, found: list[list[float | None]], names) -> None:
    """One run counts as it is; several count as their mean, to the same bits whatever they are called."""
    called = [f"r{number}" for number in range(len(found))]
    boards = []
    for _ in range(2):
        names.shuffle(called)
        protocol = with_runs(
            engine, sqlite_url, {("anna", run): of_run for run, of_run in zip(called, found, strict=True)}
        )
        with reading(engine) as connection:
            rows = read_leaderboard(connection, protocol)
        boards.append(rows[0].scores[0])
        with writing(engine) as connection:
            for table in (Score, Evaluation, Submission):
                connection.execute(delete(table))
    for score in boards:
        values = [of_run[0] for of_run in found]
        mean = None if None in values else math.fsum(values) / len(values)
        assert score.score == (values[0] if len(values) == 1 else mean)
        assert score.rank == (None if mean is None else 1)
        assert sorted(score.run_scores, key=str) == sorted(values, key=str)
        for place, replicates in enumerate(zip(*(of_run[1:] for of_run in found), strict=True)):
            expected = math.nan if None in replicates else math.fsum(replicates) / len(replicates)
            np.testing.assert_equal(score.replicate_scores[place], expected)


@pytest.mark.parametrize(
    ("said", "constrained"),
    [
        ([True, True], True),
        ([True, False], False),
        ([True, None], None),
        ([False, None], False),
        ([None], None),
    ],
)
def test_one_run_that_was_trained_on_more_makes_a_system_unconstrained(
    said: list[bool | None], constrained: bool | None
) -> None:
    assert constrained_of([SimpleNamespace(constrained=each) for each in said]) is constrained
