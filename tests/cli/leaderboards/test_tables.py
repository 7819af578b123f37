"""What tables of leaderboards say, from their documents alone, and which leaderboards and systems are meant."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from cli.main import main
from steelyard.tables.table import Table
from steelyard_client.commands.campaigns.scores import _table as table_of_versions
from steelyard_client.commands.leaderboards import breakdown, compare, leaderboard, power, rows
from steelyard_client.commands.leaderboards.chosen import BoardSelection
from steelyard_client.documents.leaderboards.breakdowns import BreakdownGroup, BreakdownResponse, BreakdownSystem
from steelyard_client.documents.leaderboards.human_rankings import HumanInterval, HumanPlace, HumanRule
from steelyard_client.documents.leaderboards.imported_scores import ImportedScoresResponse, ScoreFileResponse
from steelyard_client.documents.leaderboards.leaderboards import (
    BoardRanking,
    BoardScore,
    BoardSystem,
    LeaderboardResponse,
    NeighbourPower,
    ScoreInterval,
)
from steelyard_client.vocabulary import Average, Grouping, SystemOrigin


def score(**changed: Any) -> BoardScore:
    values = {
        "metric": "ter", "title": "TER", "signature": "sig", "higher_is_better": False, "scale": 100.0, "score": 50.0,
        "interval": ScoreInterval.model_construct(low=48.0, high=53.0, level=0.95), "runs": [], "details": {},
        "rank": 3, "rank_low": 2, "rank_high": 5, "cluster": 4, "wins": 6,
    }  # fmt: skip
    return BoardScore.model_construct(**values | changed)


def system(**changed: Any) -> BoardSystem:
    values = {
        "submission": 7, "submissions": [7, 8], "name": "Harbour/mast", "team": "harbour", "system": "mast",
        "runs": ["a", "b"], "state": "done", "reason": None, "kind": "primary", "ranked": True, "constrained": None,
        "late_seconds": 0.0, "origin": SystemOrigin.TEAM, "scores": [score()], "human": None,
    }  # fmt: skip
    return BoardSystem.model_construct(**values | changed)


def rows_of(*systems: BoardSystem, human: HumanRule | None = None) -> list[dict[str, Any]]:
    board = LeaderboardResponse.model_construct(
        campaign="wmt", test_set="news", version="2", references=["A", "B"], human=human, items=list(systems)
    )
    return [dict(zip(rows.COLUMNS, each, strict=True)) for each in rows.rows_of(board)]


def test_each_number_of_a_leaderboard_is_in_its_column() -> None:
    assert rows_of(system(constrained=True, late_seconds=89.6)) == [
        {
            "campaign": "wmt", "test_set": "news", "version": "2", "references": "A+B", "system": "mast",
            "team": "harbour", "runs": 2, "state": "done", "metric": "ter", "rank": 3, "rank_low": 2, "rank_high": 5,
            "cluster": 4, "wins": 6, "score": 50.0, "low": 48.0, "high": 53.0, "level": 0.95, "signature": "sig",
            "submission": 7, "kind": "primary", "ranked": "yes", "constrained": "yes", "late_seconds": "90",
            "origin": "team",
        }
    ]  # fmt: skip
    (waits,) = rows_of(system(scores=[], state="queued", system=None, ranked=False, constrained=False))
    assert (waits["system"], waits["state"], waits["metric"]) == ("Harbour/mast", "queued", None)
    assert (waits["ranked"], waits["constrained"], waits["late_seconds"]) == ("no", "no", "0")
    (bare,) = rows_of(system(scores=[score(interval=None)]))
    assert (bare["score"], bare["low"], bare["high"], bare["level"]) == (50.0, None, None, None)


def test_people_have_a_row_of_their_own_where_they_rank() -> None:
    interval = HumanInterval(level=0.9, low=70.0, high=75.0, n=1000)
    place = HumanPlace(
        score=72.0, interval=interval, rank=1, rank_low=1, rank_high=2, wins=8, losses=9, cluster=3, n=40
    )
    rule = HumanRule(rule="human:wmt24", judgments="esa@1", fault=None, notices=[])
    metric, people = rows_of(system(human=place), human=rule)
    assert metric["metric"] == "ter"
    assert {name: people[name] for name in rows._SCORE} == {
        "metric": "human:wmt24", "rank": 1, "rank_low": 1, "rank_high": 2, "cluster": 3, "wins": 8, "score": 72.0,
        "low": 70.0, "high": 75.0, "level": 0.9, "signature": "human:wmt24 of esa@1",
    }  # fmt: skip
    assert len(rows_of(system(human=place))) == 1


def grouped(**changed: Any) -> BreakdownResponse:
    values = {
        "campaign": "wmt", "test_set": "news", "version": "1", "references": ["A"], "metric": "ter", "title": "TER",
        "higher_is_better": False, "scale": 100.0, "by": Grouping.DOMAIN, "average": Average.MICRO, "unit": "",
        "groups": [BreakdownGroup(name="speech", domain="speech", segments=1),
                   BreakdownGroup(name="news", domain="", segments=30)],
        "systems": [BreakdownSystem.model_construct(name="mast", rank=1, micro=40.0, macro=45.0, scores=[50.0, None])],
    }  # fmt: skip
    return BreakdownResponse.model_construct(**values | changed)


def test_scores_by_group_are_beside_their_group() -> None:
    told = [dict(zip(breakdown.COLUMNS, each, strict=True)) for each in breakdown.rows_of(grouped(version="2"))]
    both = {
        "campaign": "wmt", "test_set": "news", "version": "2", "references": "A", "metric": "ter", "system": "mast",
        "rank": 1, "micro": 40.0, "macro": 45.0, "by": "domain",
    }  # fmt: skip
    assert told == [
        both | {"group": "speech", "domain": "speech", "segments": 1, "score": 50.0},
        both | {"group": "news", "domain": "", "segments": 30, "score": None},
    ]


@pytest.mark.parametrize(
    ("average", "ranked"), [(Average.MICRO, "the whole test set"), (Average.MACRO, "the mean of domains")]
)
def test_a_table_of_domains_says_by_what_it_ranks(average: Average, ranked: str) -> None:
    table = breakdown.table_of(grouped(average=average))
    assert table.title == f"news, reference A: TER, lower is better by domain, ranked by {ranked}"
    assert [each.title for each in table.columns[2:]] == [
        *("All", "Mean of domains", "speech (1 segment)", "news (30 segments)"),
    ]
    assert table.rows == [[1, "mast", 40.0, 45.0, 50.0, None]]
    assert "by domain in words of the references" in str(breakdown.table_of(grouped(unit="words")).title)


def test_documents_are_rows_and_their_means_the_last_ones() -> None:
    table = breakdown.table_of(grouped(by=Grouping.DOCUMENT, higher_is_better=True))
    assert "lower" not in table.title
    assert table.rows == [
        ["speech", "speech", 1, 50.0], ["news", "", 30, None], ["micro", "", None, 40.0], ["macro", "", None, 45.0],
    ]  # fmt: skip


def neighbours(**changed: Any) -> list[Any]:
    values = {
        "a": "mast", "b": "keel", "difference": -1.25, "smallest_difference": 2.0, "power": 0.614,
        "segments_needed": 12_345, "enough": False,
    }  # fmt: skip
    table: Table = power._neighbours([NeighbourPower.model_construct(**values | changed)], "TER", 2)
    (row,) = table.rows
    return list(row)


def test_the_lead_of_the_better_one_is_never_negative() -> None:
    assert neighbours() == ["mast before keel", "1.25", "2.00", "61 %", "12,000", "too few segments"]
    assert neighbours(enough=True, segments_needed=None)[4:] == ["no number", "enough"]
    assert neighbours(power=None)[2:] == ["n/a", "n/a", "n/a", "unknown"]
    assert neighbours(smallest_difference=0.0)[-1] == "unknown"
    assert neighbours(smallest_difference=0.0, difference=0.0)[-1] == "they never differ"


def test_versions_of_imported_scores_are_told_whole() -> None:
    at = datetime(2026, 11, 30, 12, 5, tzinfo=UTC)
    files = [ScoreFileResponse.model_construct(name=f"{number}.tsv") for number in range(4)]
    versions = [
        ImportedScoresResponse.model_construct(
            test_set="news", name="X", version=version, shown=shown, level="segment", higher_is_better=shown,
            systems=3, sha256="0123456789abcdef", files=files[:count], imported_by="ann", created_at=at,
        )
        for version, shown, count in (("1", True, 4), ("2", False, 3))
    ]  # fmt: skip
    assert table_of_versions(versions).rows == [
        ["news", "X", "1", True, "segments", "higher", 3, "0123456789ab", "0.tsv, 1.tsv, 2.tsv ...", "ann",
         "2026-11-30 12:05"],
        ["news", "X", "2", False, "segments", "lower", 3, "0123456789ab", "0.tsv, 1.tsv, 2.tsv", "ann",
         "2026-11-30 12:05"],
    ]  # fmt: skip


@pytest.mark.parametrize("verb", ["leaderboard", "compare"])
def test_options_choose_leaderboards(verb: str, monkeypatch: pytest.MonkeyPatch, sqlite_url: str) -> None:
    asked: list[BoardSelection] = []
    module = f"steelyard_client.commands.leaderboards.{verb}"
    monkeypatch.setattr(f"{module}.chosen_boards", lambda _, selection: asked.append(selection) or [])
    main([verb, "news", "--references", "A,B", "--resample", "document", "--database", sqlite_url])
    main([verb, "--all", "--database", sqlite_url])
    assert asked == [BoardSelection("news", ["A", "B"], resample="document"), BoardSelection(every=True)]


def test_a_name_of_two_submissions_means_the_ranked_one() -> None:
    def chosen(**changed: Any) -> list[int]:
        rule: Any = SimpleNamespace(**{"systems": (), "submissions": (), "every": False} | changed)
        return [each.submission for each in compare._chosen(board, rule, None)]

    first, last = (system(submission=each, submissions=[each], ranked=each == 1) for each in (1, 2))
    other = system(submission=3, submissions=[3], system="keel", name="Harbour/keel")
    for items in ([first, last, other], [last, first, other]):
        board = LeaderboardResponse.model_construct(items=items)
        assert chosen(systems=("mast", "keel")) == [1, 3]
        assert sorted(chosen()) == [1, 3]
        assert sorted(chosen(every=True)) == [1, 2, 3]


def test_only_systems_that_are_ranked_and_scored_are_tested_for_a_leaderboard(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the correction that was asked for, and as many trials as the leaderboard needs."""
    asked: list[Any] = []
    items = [system(), system(submission=8, ranked=False), system(submission=9, scores=[]), system(submission=10)]
    read = LeaderboardResponse.model_construct(items=items, ranking=BoardRanking.model_construct(testing=1, draws=5000))

    def request(campaign: str, submissions: list[int], **how: Any) -> Any:
        asked.append((campaign, submissions, how))

    client: Any = SimpleNamespace(read_leaderboard=lambda *_, **__: read, request_comparisons=request)
    monkeypatch.setattr(leaderboard, "finish_comparison", lambda *_: None)
    listed: Any = SimpleNamespace(board=4)
    for test in ("bootstrap", "randomization"):
        rule = leaderboard.Rule(
            level=0.95, interval="percentile", test=test, alpha=0.05, correction="holm", trials=None,
            all_submissions=False, power=False,
        )  # fmt: skip
        assert leaderboard.read_ranked(client, "wmt", listed, rule, by="", every=True, all_ranks=False) is read
    assert asked == [("wmt", [7, 10], {"board": 4, "correction": "holm", "trials": 5000})]
