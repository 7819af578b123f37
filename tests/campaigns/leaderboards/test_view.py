"""Who stands on a board, who is ranked, and that ranks, ranges and clusters are those of the command line."""

import gc
import time
import tracemalloc
from itertools import product

import pytest
from sqlalchemy import select, update

import campaigns.leaderboards.significance_cache
from analysis.leaderboard.board import Board, read_board
from analysis.leaderboard.significance import ranked_by_bootstrap
from campaigns.accounts.principal import COMMAND_LINE
from campaigns.leaderboards.scores import read_details
from campaigns.leaderboards.snapshot import BoardVersion, read_board_versions
from campaigns.leaderboards.view import BoardQuery, Boards, BoardView
from models.database.session import make_engine, reading, writing
from models.results.boards import BoardSummary, list_boards
from models.schema.campaigns import Campaign
from models.schema.corpus import Protocol
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.schema.roles import DeclaredKind
from models.schema.states import EvaluationState
from steelyard_client.vocabulary import Constrained, SystemFilter
from tests.service.scored_campaigns import CONTRASTIVE, PRIMARY, REPLICATES, Scored
from tests.service.service import Service

MEGABYTE = 2**20


@pytest.fixture
def scored(service: Service) -> Scored:
    return Scored(service)


def boards_of(scored: Scored, max_packed_bytes: int = 64 * MEGABYTE) -> Boards:
    return Boards(scored.service.engine, max_packed_bytes)


def view(scored: Scored, boards: Boards | None = None, **query: object) -> BoardView:
    boards = boards or boards_of(scored)
    with reading(scored.service.engine) as connection:
        (listed,) = list_boards(connection)
        return boards.view(connection, listed, BoardQuery(**query))  # type: ignore[arg-type]


def shown(board: BoardView) -> list[tuple[str, int | None]]:
    return [(line.entry.system, line.rank) for line in board.lines]


def of_the_command_line(scored: Scored) -> Board:
    with reading(scored.service.engine) as connection:
        (listed,) = list_boards(connection)
        board = read_board(connection, listed, 0.95)
    assert board is not None
    return ranked_by_bootstrap(board)


def test_ranks_ranges_clusters_and_intervals_are_those_of_the_command_line(scored: Scored) -> None:
    for number, score in enumerate((40.0, 39.9, 39.7, 35.0, 34.9, 34.9, 20.0)):
        scored.add("", f"s{number}", score, spread=0.1 + 0.1 * number)
    scored.add("", "undefined", None)
    scored.add("", "waiting", None, state="queued")
    scored.add("", "broken", None, state="failed")
    board, other = view(scored), of_the_command_line(scored)
    assert other.ranking is not None
    assert [line.entry.system for line in board.lines[:7]] == [row.system for row in other.rows[:7]]
    assert [line.place for line in board.lines[:7]] == list(other.ranking.ranks[0][:7])
    assert len({line.place.cluster for line in board.lines if line.place}) > 2
    for line, row in zip(board.lines[:7], other.rows[:7], strict=True):
        assert [each.score for each in line.entry.scores] == [each.score for each in row.scores]
        assert [each.interval for each in line.entry.scores] == [other.interval(each) for each in row.scores]
        assert line.rank == row.scores[0].rank
    rest = [(line.entry.state, line.rank, line.place) for line in board.lines[7:]]
    assert rest == [("done", None, None), ("queued", None, None), ("failed", None, None)]


def test_systems_of_equal_scores_share_a_rank_and_less_may_be_better(scored: Scored) -> None:
    for number, (score, ter) in enumerate(((30.0, 60.0), (40.0, 50.0), (30.0, 50.0), (20.0, None))):
        scored.add("", f"s{number}", score, ter=ter)
    assert shown(view(scored)) == [("s1", 1), ("s0", 2), ("s2", 2), ("s3", 4)]
    assert shown(view(scored, metric=1)) == [("s1", 1), ("s2", 1), ("s0", 3), ("s3", None)]


def test_of_a_team_its_primary_is_ranked_else_its_last(scored: Scored) -> None:
    scored.add("harbour", "a", 30.0, **PRIMARY)
    scored.add("harbour", "b", 31.0, **CONTRASTIVE)
    scored.add("lighthouse", "c", 29.0)
    scored.add("lighthouse", "d", 28.0)
    scored.add("lighthouse", "e", 35.0, **CONTRASTIVE)
    scored.add("pier", "f", 36.0, **CONTRASTIVE)
    scored.add("", "baseline", 20.0)
    scored.add("", "reference", 50.0)
    assert shown(view(scored)) == [("reference", 1), ("a", 2), ("d", 3), ("baseline", 4)]
    everything = shown(view(scored, shown=SystemFilter.ALL))
    assert everything == [
        *(("reference", 1), ("f", None), ("e", None), ("b", None), ("a", 2), ("c", None)),
        *(("d", 3), ("baseline", 4)),
    ]


def test_the_command_line_ranks_the_same_systems(scored: Scored) -> None:
    """Whatever teams say of their systems: primary, contrastive, nothing, withdrawn, replaced, runs."""
    for number in range(2):
        scored.add("", f"baseline{number}", 20.0 + 5 * number)
    scored.add("harbour", "first", 30.0, **PRIMARY)
    scored.add("harbour", "second", 30.4, **CONTRASTIVE)
    scored.add("harbour", "first", 33.0)
    scored.add("lighthouse", "lamp", 29.0)
    scored.add("lighthouse", "oil", 31.0, late_seconds=60.0)
    scored.withdraw(scored.add("lighthouse", "gas", 35.0))
    scored.add("pier", "only", 36.0, **CONTRASTIVE)
    for run in ("1", "2"):
        scored.add("tower", "clock", 32.0, run=run)
    scored.add("tower", "bell", 34.0, **CONTRASTIVE)
    for metric in range(2):
        of_pages = view(scored, metric=metric, shown=SystemFilter.ALL)
        with reading(scored.service.engine) as connection:
            (listed,) = list_boards(connection)
            board = read_board(connection, listed, 0.95, listed.metrics[metric])
            ranked_only = read_board(connection, listed, 0.95, listed.metrics[metric], ranked_only=True)
        assert board is not None
        assert ranked_only is not None
        assert (board.not_ranked, ranked_only.not_ranked, of_pages.not_ranked) == (5, 5, 5)
        for kind, lines, rows in (
            ("all", of_pages.lines, ranked_by_bootstrap(board)),
            ("ranked", view(scored, metric=metric).lines, ranked_by_bootstrap(ranked_only)),
        ):
            ours = {line.entry.submissions: (line.rank, line.place) for line in lines}
            assert rows.ranking is not None
            theirs = {
                row.submissions: (row.scores[metric].rank, place)
                for row, place in zip(rows.rows, rows.ranking.ranks[metric], strict=True)
            }
            assert ours == theirs, (metric, kind)
            assert sum(rank is not None for rank, _ in ours.values()) == 5, (metric, kind)


def test_a_primary_stands_also_where_another_submission_of_the_system_came_after_it(scored: Scored) -> None:
    first = scored.add("harbour", "a", 30.0, **PRIMARY)
    second = scored.add("harbour", "a", 33.0)
    (line,) = view(scored).lines
    assert line.entry.submission == first
    assert {each.entry.submission for each in view(scored, shown=SystemFilter.ALL).lines} == {first, second}
    assert all(each.entry.twice for each in view(scored, shown=SystemFilter.ALL).lines)


def test_what_a_team_withdraws_is_gone_at_once_and_what_came_before_stands_again(scored: Scored) -> None:
    boards = boards_of(scored)
    first, second = scored.add("harbour", "a", 30.0), scored.add("harbour", "a", 33.0)
    assert [line.entry.submission for line in view(scored, boards).lines] == [second]
    scored.withdraw(second)
    assert [line.entry.submission for line in view(scored, boards).lines] == [first]
    scored.withdraw(first)
    assert view(scored, boards).lines == []


def test_every_change_shows_at_once(scored: Scored) -> None:
    boards = boards_of(scored)
    ours = scored.add("harbour", "a", 30.0)
    other = scored.add("harbour", "b", 25.0)
    assert shown(view(scored, boards)) == [("b", 1)]
    assert view(scored, boards) is view(scored, boards), "nothing is done twice"
    scored.declare(ours, **PRIMARY)
    assert shown(view(scored, boards)) == [("a", 1)]
    scored.declare(ours, kind="")
    scored.declare(other, constrained=True)
    assert shown(view(scored, boards, constrained=Constrained.YES)) == [("b", 1)]
    scored.finish(other, 26.0)
    assert view(scored, boards).lines[0].entry.scores[0].score == 26.0
    waiting = scored.add("harbour", "c", None, state="running")
    assert shown(view(scored, boards)) == [("c", None)]
    scored.finish(waiting, 27.0)
    assert shown(view(scored, boards)) == [("c", 1)]


def test_whatever_changes_on_a_board_changes_its_stamp(scored: Scored) -> None:
    """Each by itself: not every change of a row comes with an entry in the log at the same moment."""
    ours, _ = scored.add("harbour", "a", 30.0), scored.add("harbour", "b", 25.0)
    elsewhere = Scored(scored.service, name="other").add("harbour", "a", 30.0)
    evaluation = scored.evaluations[ours]
    stamps: dict[BoardVersion, str] = {}

    def note(what: str) -> None:
        with reading(scored.service.engine) as connection:
            listed = next(each for each in list_boards(connection) if each.campaign == "port")
            version = read_board_versions(connection, listed.campaign_id, [listed.protocol_id])[listed.protocol_id]
        assert stamps.setdefault(version, what) == what

    note("as it was")
    for kind, constrained in product(DeclaredKind, (None, True, False)):
        scored.declare(ours, kind=kind, constrained=constrained)
        note(f"{kind} {constrained}" if kind or constrained is not None else "as it was")
    scored.declare(ours, kind="", constrained=None, late_seconds=3.0)
    note("late")
    scored.declare(ours, late_seconds=0.0, withdrawn_at=1.0)
    note("withdrawn")
    scored.declare(ours, withdrawn_at=None)
    scored.declare(elsewhere, kind=DeclaredKind.PRIMARY, withdrawn_at=1.0)
    note("as it was")
    with writing(scored.service.engine) as connection:
        mine = update(Evaluation).where(Evaluation.id == evaluation)
        done = connection.execute(select(Evaluation.finished_at).where(Evaluation.id == evaluation)).scalar_one()
    for values in (
        *({"state": state, "finished_at": done} for state in EvaluationState),
        {"state": "done", "finished_at": done + 9},
    ):
        with writing(scored.service.engine) as connection:
            connection.execute(mine.values(**values))
        note("as it was" if values == {"state": "done", "finished_at": done} else str(values))
    with writing(scored.service.engine) as connection:
        connection.execute(mine.values(finished_at=done))
    note("as it was")
    for campaign in ("other", "port"):
        with writing(scored.service.engine) as connection:
            number = connection.execute(select(Campaign.id).where(Campaign.name == campaign)).scalar_one()
            COMMAND_LINE.audit(connection, "campaign.change", "rules", campaign_id=number)
        note("as it was" if campaign == "other" else "noted")
    scored.add("harbour", "c", None, state="queued")
    note("another")


def test_ranks_are_those_among_the_systems_that_are_shown(scored: Scored) -> None:
    for number, (score, constrained) in enumerate(((40.0, False), (39.0, True), (38.0, None), (30.0, True))):
        scored.add(f"team{number}", f"s{number}", score, constrained=constrained)
    assert shown(view(scored, constrained=Constrained.YES)) == [("s1", 1), ("s3", 2)]
    assert shown(view(scored, constrained=Constrained.NO)) == [("s0", 1), ("s2", 2)]
    assert [line.place.high for line in view(scored, constrained=Constrained.YES).lines if line.place] == [1, 2]


def test_the_same_output_is_named(scored: Scored) -> None:
    scored.add("harbour", "a", 30.0, text="alike")
    scored.add("lighthouse", "b", 30.0, text="alike")
    first, second = view(scored).lines
    assert first.same_as is None
    assert second.same_as is first.entry


def test_runs_of_a_system_are_one_line_with_the_mean_of_their_scores(scored: Scored) -> None:
    scored.add("", "a", 30.0, run="1")
    scored.add("", "a", 34.0, run="2")
    scored.add("", "b", 31.0, run="1")
    scored.add("", "b", None, run="2", state="queued")
    first, second = view(scored).lines
    assert (first.entry.scores[0].score, first.entry.runs) == (32.0, ("1", "2"))
    assert (second.entry.system, second.entry.runs_done, second.rank) == ("b", 1, None)
    assert first.entry.scores[0].interval == of_the_command_line(scored).interval(
        of_the_command_line(scored).rows[0].scores[0]
    )


def test_systems_of_several_runs_have_what_their_own_runs_have(scored: Scored) -> None:
    for system, scores in (("a", (30.0, 34.0)), ("b", (33.0,)), ("c", (33.5, 36.0, 33.0)), ("d", (31.0, 32.0))):
        for run, score in enumerate(scores):
            submission = scored.add("", system, score, run=f"run {run}")
            with writing(scored.service.engine) as connection:
                own = Score.evaluation_id == scored.evaluations[submission]
                connection.execute(update(Score).where(own).values(details={"BP": score / 64}))
    board, other = view(scored), of_the_command_line(scored)
    assert other.ranking is not None
    assert [line.place for line in board.lines] == list(other.ranking.ranks[0])
    intervals = [line.entry.scores[0].interval for line in board.lines]
    assert intervals == [other.interval(row.scores[0]) for row in other.rows]
    with reading(scored.service.engine) as connection:
        details = read_details(connection, [line.entry.evaluations for line in board.lines])
    assert [details[line.entry.evaluations[0]] for line in board.lines] == [
        [dict(score.details) for score in row.scores] for row in other.rows
    ]


def test_without_replicates_there_are_ranks_only_and_it_says_so(service: Service) -> None:
    scored = Scored(service, replicates=0)
    scored.add("", "a", 30.0)
    scored.add("", "b", 31.0)
    board = view(scored)
    assert shown(board) == [("b", 1), ("a", 2)]
    assert not board.has_places
    assert "No bootstrap replicates" in board.fault


@pytest.mark.parametrize(("replicates", "few"), [(19, True), (20, False)])
def test_replicates_that_can_part_no_systems_are_said(service: Service, replicates: int, *, few: bool) -> None:
    """One of 20 is not below 0.05."""
    scored = Scored(service, replicates=replicates)
    for system, score in (("mast", 40.0), ("keel", 10.0)):
        scored.add("", system, score)
    assert (f"{replicates} replicates are too few to part any systems." in view(scored).fault) == few


def test_many_pairs_are_tested_in_the_background_and_then_shown(
    scored: Scored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaigns.leaderboards.significance_cache, "FOREGROUND_REPLICATES", 5 * REPLICATES)
    for number in range(5):
        scored.add("", f"s{number}", 30.0 + number)
    boards = boards_of(scored)
    board = view(scored, boards)
    assert (board.testing, board.has_places) == (10, False)
    assert shown(board)[0] == ("s4", 1), "scores and ranks are there at once"
    patience = time.monotonic() + 120
    while view(scored, boards).testing and time.monotonic() < patience:
        time.sleep(0.01)
    board = view(scored, boards)
    assert [line.place for line in board.lines] == list(of_the_command_line(scored).ranking.ranks[0])  # type: ignore[union-attr]
    scored.add("", "new", 40.0)
    assert view(scored, boards).testing == 0, "a new system brings its own pairs only"


def test_columns_have_titles_before_there_is_any_score(scored: Scored) -> None:
    submission = scored.add("", "mast", 40.0, state="queued")
    assert view(scored).titles == ["BLEU", "TER ↓"]
    with writing(scored.service.engine) as connection:
        connection.execute(update(Protocol).values(metrics=["bleu", "ofanother:release=1"]))
    assert view(scored).titles == ["bleu", "ofanother:release=1"], "what is not installed here has no title"
    with writing(scored.service.engine) as connection:
        connection.execute(update(Protocol).values(metrics=["bleu", "ter"]))
    scored.finish(submission, 40.0)
    assert view(scored).titles == ["BLEU", "TER ↓"]


def test_a_small_memory_costs_time_but_shows_the_same(scored: Scored) -> None:
    for number in range(6):
        scored.add("", f"s{number}", 30.0 + number)
    boards = boards_of(scored, max_packed_bytes=3_000)
    small, large = view(scored, boards), view(scored)
    assert [(line.rank, line.place) for line in small.lines] == [(line.rank, line.place) for line in large.lines]
    assert boards.memory.held_bytes <= 3_000


def test_a_kept_board_takes_no_more_than_is_said(scored: Scored) -> None:
    for number in range(60):
        scored.add("", f"s{number}", 30.0 + number / 7, ter=50.0 - number / 7, run="ab"[number % 2] * (number % 3 > 0))
    boards = boards_of(scored)
    view(scored, boards_of(scored))
    tracemalloc.start()
    try:
        board = view(scored, boards)
        boards.replicates = boards.places = boards_of(scored).places
        boards.significance = boards_of(scored).significance
        gc.collect()
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(board.lines) == 60
    # What a process has read for the first time is in it, too.
    assert taken < boards.memory.held_bytes + 100_000


def test_scores_are_read_as_they_are_asked_for(scored: Scored) -> None:
    scored.add("", "s", 30.0, run="a", ter=50.0)
    scored.add("", "s", 31.0, run="b", ter=None)
    scored.add("", "t", 32.0, ter=52.0)
    scored.add("", "waiting", None, state="queued")
    mean, single, waiting = (line.entry.scores for line in sorted(view(scored).lines, key=lambda e: e.entry.submission))
    assert [each.score for each in mean] == [30.5, None]
    assert [each.run_scores for each in mean[:]] == [(30.0, 31.0), (50.0, None)]
    assert [each.run_scores for each in single] == [(), ()]
    assert [single[-1].score, single.score(1), len(single), len(waiting)] == [52.0, 52.0, 2, 0]
    assert [single[0].interval, mean[1].interval] == [single.interval(0), None]
    changed = single.with_score(1, 2.5, None)
    assert [(each.metric, each.score, each.interval) for each in changed] == [
        (single[0].metric, 32.0, single.interval(0)), (single[1].metric, 2.5, None),
    ]  # fmt: skip
    assert single.score(1) == 52.0


def test_boards_of_two_campaigns_on_one_protocol_are_apart(scored: Scored) -> None:
    scored.add("", "a", 30.0)
    Scored(scored.service, name="other").add("", "b", 31.0)
    boards = boards_of(scored)

    def systems(listed: BoardSummary) -> list[str]:
        with reading(scored.service.engine) as connection:
            return [line.entry.system for line in boards.view(connection, listed, BoardQuery()).lines]

    with reading(scored.service.engine) as connection:
        listed = list_boards(connection)
    assert [systems(each) for each in listed] == [["a"], ["b"]]


def test_it_is_the_same_on_both_databases(database_url: str, service: Service) -> None:
    service.engine = make_engine(database_url)
    service.settings = service.settings.model_copy(update={"database_url": database_url})
    scored = Scored(service)
    boards = boards_of(scored)
    ours = scored.add("harbour", "a", 30.0, **PRIMARY)
    other = scored.add("harbour", "b", 33.0, late_seconds=3.0, constrained=True)
    assert shown(view(scored, boards)) == [("a", 1)]
    assert view(scored, boards) is view(scored, boards)
    scored.withdraw(ours)
    assert shown(view(scored, boards)) == [("b", 1)]
    scored.declare(other, constrained=False)
    assert shown(view(scored, boards, constrained=Constrained.YES)) == []
    scored.finish(other, 34.0)
    assert view(scored, boards).lines[0].entry.scores[0].score == 34.0
