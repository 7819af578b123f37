"""Versions of imported metrics where others are called alike: other test sets, other campaigns, other teams."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, select

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.corrections.corrections import correct_test_set
from campaigns.deletion.imports import delete_imported_scores
from campaigns.errors import BadRequest
from campaigns.permissions import read_access
from campaigns.rules import Rules, set_rules
from campaigns.score_imports.autorank import autoranks_of, rank_by_autorank
from campaigns.score_imports.reductions import reduce_now
from campaigns.score_imports.versions import choose_version, delete_version, list_versions
from campaigns.test_sets.stored import find_campaign_test_set
from models.audit import AuditEntry
from models.database.session import make_engine, reading, writing
from models.results.boards import list_boards
from models.results.leaderboard import read_leaderboard
from models.schema.campaigns import Campaign
from models.schema.imported import ImportedScore, ScoreImport
from models.schema.queue import Evaluation, Reduction
from runtime.settings import Settings
from steelyard.formats.plain import Text
from tests.campaigns.score_imports.scores import boards, comet, table, take_in
from tests.scheduler.jobs import work_off
from tests.service.campaigns import found, given, submit_output, with_test_set

LINES = b"a\nb\nc\n"


@pytest.fixture
def engine(sqlite_url: str, rows_backwards: None) -> Engine:
    """Two campaigns of the same two test sets, news and talks, with a system "ant" of one team, "bee" of two."""
    engine = make_engine(sqlite_url)
    for campaign in ("wmt", "iwslt"):
        found(engine, campaign)
        for name, source, language in (("news", b"x\ny\nz\n", "cs"), ("talks", b"u\nv\nw\n", "de")):
            test_set = given(source=source, target_language=language)
            with_test_set(engine, campaign, test_set, name=name, metrics=("bleu",), replicates=7)
            for team, system in (("ants", "ant"), ("bees", "bee"), ("flies", "bee")):
                submit_output(engine, campaign, team, system, LINES, test_set=name)
    work_off(settings_of(engine))
    return engine


def settings_of(engine: Engine) -> Settings:
    return Settings(database_url=engine.url.render_as_string(hide_password=False))


def change(engine: Engine, act: Callable[..., Any], *arguments: Any, campaign: str = "wmt", **others: Any) -> Any:
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, campaign)
        done = act(connection, settings_of(engine), access, *arguments, **others)
    work_off(settings_of(engine))
    return done


def shown(engine: Engine, campaign: str = "wmt") -> dict[str, float | None]:
    """The score of the system "ant" by the last column of each test set."""
    return {name: rows["ant"].scores[-1].score for name, (_, rows) in boards(engine, campaign).items()}


def versions(engine: Engine, campaign: str = "wmt") -> list[tuple[str, str, str, bool]]:
    with reading(engine) as connection:
        listed = list_versions(connection, read_access(connection, COMMAND_LINE, campaign))
    return [(each.test_set, each.name, each.version, each.shown) for each in listed]


def ranked_by(engine: Engine, campaign: str = "wmt") -> str:
    with reading(engine) as connection:
        return connection.execute(select(Campaign.ranked_by).where(Campaign.name == campaign)).scalar_one()


def rank_by(engine: Engine, specification: str, campaign: str = "wmt") -> None:
    with writing(engine) as connection:
        set_rules(connection, lock_for_change(connection, COMMAND_LINE, campaign), Rules(ranked_by=specification))


def everywhere(engine: Engine, folder: Path, value: float, **asked: Any) -> None:
    """The same scores of all test sets of both campaigns."""
    file = comet(folder / f"{value}.json", {"ant": [value] * 3})
    for campaign in ("wmt", "iwslt"):
        for test_set in ("news", "talks"):
            take_in(engine, campaign, file, test_set=test_set, **asked)


def test_a_version_is_that_of_one_test_set_in_one_campaign(engine: Engine, tmp_path: Path) -> None:
    everywhere(engine, tmp_path, 1.0)
    take_in(engine, "wmt", comet(tmp_path / "2.json", {"ant": [2, 2, 2]}), test_set="news")
    assert shown(engine) == {"news": 2.0, "talks": 1.0}
    assert shown(engine, "iwslt") == {"news": 1.0, "talks": 1.0}
    # What is new in one is the first there, whatever its name and scores are elsewhere.
    again = take_in(engine, "wmt", comet(tmp_path / "2.json", {"ant": [2, 2, 2]}), test_set="talks")
    assert [(each.version, each.new) for each in again.columns] == [("2", True)]
    assert versions(engine) == [
        ("news", "COMET", "1", False),
        ("news", "COMET", "2", True),
        ("talks", "COMET", "1", False),
        ("talks", "COMET", "2", True),
    ]
    assert versions(engine, "iwslt") == [("news", "COMET", "1", True), ("talks", "COMET", "1", True)]


def test_the_same_scores_may_have_two_names_of_versions(engine: Engine, tmp_path: Path) -> None:
    file = comet(tmp_path / "c.json", {"ant": [1, 2, 3]})
    take_in(engine, "wmt", file, test_set="news")
    named = take_in(engine, "wmt", file, test_set="news", metric="COMET@final")
    assert [(each.version, each.new) for each in named.columns] == [("final", True)]
    assert [each[2:] for each in versions(engine)] == [("1", False), ("final", True)]
    again = take_in(engine, "wmt", file, test_set="news", metric="COMET@final")
    assert [each.new for each in again.columns] == [False]
    with reading(engine) as connection:
        entries = select(AuditEntry.details).where(AuditEntry.action == "scores.import").order_by(AuditEntry.id)
        told = [details["columns"] for details in connection.scalars(entries)]
    assert told == [["news: COMET@1"], ["news: COMET@final"], []]


def test_numbers_of_versions_that_were_given_are_not_given_again(engine: Engine, tmp_path: Path) -> None:
    for value, name in ((1, "COMET@2"), (2, ""), (3, "")):
        take_in(engine, "wmt", comet(tmp_path / "c.json", {"ant": [value] * 3}), test_set="news", metric=name)
    assert [each[2] for each in versions(engine)] == ["2", "1", "3"]


def test_versions_are_listed_by_test_set_name_and_time(engine: Engine, tmp_path: Path) -> None:
    for value, (test_set, name) in enumerate((("talks", "Y"), ("news", "Y"), ("news", "X"), ("news", "Y")), 1):
        take_in(
            engine, "wmt", comet(tmp_path / "c.json", {"ant": [value] * 3}), test_set=test_set, metric=name, work=False
        )
    assert [each[:3] for each in versions(engine)] == [
        ("news", "X", "1"), ("news", "Y", "1"), ("news", "Y", "2"), ("talks", "Y", "1"),
    ]  # fmt: skip


def test_choosing_and_deleting_can_be_of_one_test_set(engine: Engine, tmp_path: Path) -> None:
    everywhere(engine, tmp_path, 1.0)
    everywhere(engine, tmp_path, 2.0)
    change(engine, choose_version, "COMET@1", "talks")
    assert (shown(engine), shown(engine, "iwslt")) == ({"news": 2.0, "talks": 1.0}, {"news": 2.0, "talks": 2.0})
    gone = change(engine, delete_version, "COMET@2", "talks")
    assert [(each.test_set, each.version) for each in gone] == [("talks", "2")]
    assert [each[0] + each[2] for each in versions(engine)] == ["news1", "news2", "talks1"]
    gone = change(engine, delete_version, "COMET")
    assert [(each.test_set, each.version) for each in gone] == [("news", "1"), ("news", "2"), ("talks", "1")]
    assert versions(engine) == []
    assert len(versions(engine, "iwslt")) == 4
    assert shown(engine, "iwslt") == {"news": 2.0, "talks": 2.0}
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(ScoreImport)) == 4


def test_a_deletion_says_and_takes_what_one_test_set_has_of_a_version(engine: Engine, tmp_path: Path) -> None:
    everywhere(engine, tmp_path, 1.0)
    everywhere(engine, tmp_path, 2.0)

    def deletion(*, dry_run: bool) -> object:
        with writing(engine) as connection:
            asked = connection, settings_of(engine), COMMAND_LINE, "wmt", "COMET@2", "talks"
            return delete_imported_scores(*asked, dry_run=dry_run)

    before = versions(engine) + versions(engine, "iwslt")
    planned = deletion(dry_run=True)
    assert planned.removed == {"versions of a metric": 1, "systems with scores": 1, "columns of leaderboards": 1}
    assert versions(engine) + versions(engine, "iwslt") == before
    assert deletion(dry_run=False) == planned
    before.remove(("talks", "COMET", "2", True))
    assert versions(engine) + versions(engine, "iwslt") == before
    change(engine, choose_version, "COMET@1", "news")
    with writing(engine) as connection:
        asked = connection, settings_of(engine), COMMAND_LINE, "wmt", "COMET@2", "news"
        hidden = delete_imported_scores(*asked, dry_run=True)
    assert hidden.removed == {"versions of a metric": 1, "systems with scores": 1}


def test_a_campaign_goes_on_ranking_by_the_version_that_is_shown(engine: Engine, tmp_path: Path) -> None:
    everywhere(engine, tmp_path, 1.0)
    take_in(engine, "wmt", table(tmp_path / "o.tsv", [("ant", "Other", 1, 5)]), test_set="news")
    [first] = [each for each in boards(engine, "wmt")["news"][0] if "COMET" in each]
    other = boards(engine, "wmt")["news"][0][-1]
    rank_by(engine, first)
    rank_by(engine, first, "iwslt")
    take_in(engine, "wmt", comet(tmp_path / "2.json", {"ant": [2] * 3}), test_set="news")
    [second] = [each for each in boards(engine, "wmt")["news"][0] if "COMET" in each]
    rank_by(engine, second)
    change(engine, choose_version, "COMET@1", "news")
    assert (ranked_by(engine), ranked_by(engine, "iwslt")) == (first, first)
    change(engine, choose_version, "COMET@2", "news")
    assert (ranked_by(engine), ranked_by(engine, "iwslt")) == (second, first)
    # What is ranked by something else stays so, whatever is chosen or deleted.
    rank_by(engine, other)
    change(engine, choose_version, "COMET@1", "news")
    assert ranked_by(engine) == other
    change(engine, delete_version, "COMET@2", "news")
    assert ranked_by(engine) == other
    change(engine, delete_version, "Other", "news")
    assert (ranked_by(engine), ranked_by(engine, "iwslt")) == ("", first)


def test_a_system_that_two_teams_have_is_named_with_its_team(engine: Engine, tmp_path: Path) -> None:
    told = take_in(engine, "wmt", comet(tmp_path / "c.json", {"ant": [1] * 3, "bee": [9] * 3}), test_set="news")
    assert "news: left out, for they are no systems of the campaign: bee." in told.notices
    rows = [("flies/bee", "X", 1, 5), ("bees/bee", "X", 1, 3), ("ants/ant", "X", 1, 1)]
    take_in(engine, "wmt", table(tmp_path / "x.tsv", rows), test_set="news")
    with reading(engine) as connection:
        [listed] = [
            each for each in list_boards(connection, name="wmt") if each.test_set == "news" and len(each.metrics) == 3
        ]
        board = read_leaderboard(connection, listed.protocol_id, campaign_id=listed.campaign_id)
    assert {row.team: row.scores[2].score for row in board} == {"ants": 1.0, "bees": 3.0, "flies": 5.0}


def test_the_last_output_of_a_system_has_its_scores(engine: Engine, tmp_path: Path) -> None:
    newer = submit_output(engine, "wmt", "ants", "ant", b"a\nb\nd\n", test_set="news").submission
    work_off(settings_of(engine))
    take_in(engine, "wmt", comet(tmp_path / "c.json", {"ant": [1] * 3}), test_set="news")
    with reading(engine) as connection:
        assert list(connection.scalars(select(ImportedScore.submission_id))) == [newer]


def tables(folder: Path, *pairs: str) -> Path:
    rows = [(pair, "ant", "X", number, len(pair)) for pair in pairs for number in (1, 2, 3)]
    return table(folder / "x.tsv", rows, "pair system metric segment score")


def test_scores_go_to_the_test_set_of_their_pair(engine: Engine, tmp_path: Path) -> None:
    told = take_in(engine, "wmt", tables(tmp_path, "en-de", "news", "cs-en"))
    assert [each.test_set for each in told.columns] == ["talks", "news"]
    assert told.notices[0] == "Left out, for the campaign has no test set of these pairs: cs-en."
    told = take_in(engine, "iwslt", tables(tmp_path, "en-de", "en-cs"), pairs=["en-cs"])
    assert [each.test_set for each in told.columns] == ["news"]
    told = take_in(engine, "wmt", tables(tmp_path, "eng-deu", "en-de_AT"), pairs=["eng-deu"])
    assert [each.test_set for each in told.columns] == ["talks"], "in any spelling"
    assert told.notices[0] == "Scores of eng-deu are taken for the test set talks."
    with pytest.raises(BadRequest, match="The scores of eng-deu and of en-de_AT are both of the test set talks"):
        take_in(engine, "wmt", tables(tmp_path, "eng-deu", "en-de_AT"))
    with pytest.raises(BadRequest, match="The scores are of en-de, but news is of en-cs"):
        take_in(engine, "wmt", tables(tmp_path, "en-de"), test_set="news")
    with pytest.raises(BadRequest, match="The scores: there is no pair xx-yy"):
        take_in(engine, "wmt", tables(tmp_path, "en-de"), pairs=["xx-yy"])
    with pytest.raises(BadRequest, match="The scores are of several pairs: en-de, en-cs"):
        take_in(engine, "wmt", tables(tmp_path, "en-de", "en-cs"), test_set="news")
    # The only test set of a campaign is meant where nothing contradicts.
    found(engine, "one")
    with_test_set(engine, "one", name="only", metrics=("bleu",))
    submit_output(engine, "one", "ants", "ant", LINES)
    told = take_in(engine, "one", comet(tmp_path / "c.json", {"ant": [1] * 3}))
    assert [each.test_set for each in told.columns] == ["only"]
    told = take_in(engine, "one", tables(tmp_path, "en-de"))
    assert (told.columns, len(told.notices)) == ([], 1)
    with_test_set(engine, "one", given(source=b"k\nl\nm\n"), name="more", metrics=("bleu",))
    with pytest.raises(BadRequest, match="Several test sets are of en-cs: only, more"):
        take_in(engine, "one", tables(tmp_path, "en-cs"))


def test_a_corrected_test_set_gets_none_any_more(engine: Engine, tmp_path: Path) -> None:
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        old = find_campaign_test_set(connection, access, "news")
        text = Text("A.txt", b"one\ntwo\nthree", 3)
        correct_test_set(connection, settings_of(engine), access, old, {"A": text}, "wrong")
    work_off(settings_of(engine))
    told = take_in(engine, "wmt", tables(tmp_path, "news"))
    assert [each.test_set for each in told.columns] == ["news@2"]
    change(engine, rank_by_autorank, rule="wmt24")
    with reading(engine) as connection:
        found_ranks = autoranks_of(connection, read_access(connection, COMMAND_LINE, "wmt"))
    assert found_ranks == {"news@2": ["autorank:rule=wmt24:of=1,2"], "talks": ["autorank:rule=wmt24:of=1"]}


def test_autorank_of_what_each_test_set_names(engine: Engine, tmp_path: Path) -> None:
    everywhere(engine, tmp_path, 1.0)
    named = {"talks": ["COMET"], "": ["COMET", "bleu"]}
    change(engine, rank_by_autorank, rule="wmt25", metrics=named, weights={})
    change(engine, rank_by_autorank, rule="wmt24", metrics={"": ["bleu"]}, weights={"": (2,)})
    change(engine, rank_by_autorank, rule="wmt25", metrics={**named, "talks": ["bleu"]})
    with reading(engine) as connection:
        found_ranks = autoranks_of(connection, read_access(connection, COMMAND_LINE, "wmt"))
        assert autoranks_of(connection, read_access(connection, COMMAND_LINE, "iwslt")) == {}
        told = select(AuditEntry.details).where(AuditEntry.action == "campaign.rules").order_by(AuditEntry.id)
        entries = list(connection.scalars(told))
    new, old = "autorank:rule=wmt25", "autorank:rule=wmt24"
    assert [each["ranked_by"] for each in entries] == [["", new], [new, old], [old, new]]
    assert [each["autorank"] for each in entries] == [named, {"": ["bleu"]}, {**named, "talks": ["bleu"]}]
    assert [each["weights"] for each in entries] == [{}, {"": [2]}, {}]
    assert found_ranks == {
        "news": ["autorank:rule=wmt25:of=2,1", "autorank:rule=wmt24:of=1:weights=2"],
        "talks": ["autorank:rule=wmt25:of=1", "autorank:rule=wmt24:of=1:weights=2"],
    }
    with pytest.raises(BadRequest, match="has no test set 'speech'"):
        change(engine, rank_by_autorank, metrics={"speech": ["bleu"]})


def test_weights_are_those_of_the_test_set_that_they_name(engine: Engine, tmp_path: Path) -> None:
    everywhere(engine, tmp_path, 1.0)
    metrics = {"talks": ["COMET", "bleu"], "": ["bleu", "COMET"]}
    change(engine, rank_by_autorank, rule="wmt24", metrics=metrics, weights={"talks": (3, 1), "": (5, 2)})
    change(engine, rank_by_autorank, rule="wmt25", metrics=metrics, weights={"talks": (0.5, 4)})
    with reading(engine) as connection:
        found_ranks = autoranks_of(connection, read_access(connection, COMMAND_LINE, "wmt"))
    new, old = "autorank:rule=wmt25", "autorank:rule=wmt24"
    assert found_ranks == {
        "news": [f"{old}:of=1,2:weights=5,2", f"{new}:of=1,2"],
        "talks": [f"{old}:of=2,1:weights=3,1", f"{new}:of=2,1:weights=0.5,4"],
    }


@pytest.mark.parametrize(
    ("metric", "message"),
    [("Z", "there is no metric 'Z'. Metrics: X, Y"), ("@1", None), ("X@" + "v" * 31, "cannot be a version")],
)
def test_names_that_cannot_be(engine: Engine, tmp_path: Path, metric: str, message: str | None) -> None:
    rows = [("ant", name, number, 1) for name in ("X", "Y") for number in (1, 2, 3)]
    file = table(tmp_path / "x.tsv", rows)
    if message is None:
        told = take_in(engine, "wmt", file, test_set="news", metric=metric)
        assert [(each.name, each.version) for each in told.columns] == [("X", "1"), ("Y", "1")]
        return
    with pytest.raises(BadRequest, match=message):
        take_in(engine, "wmt", file, test_set="news", metric=metric)


def test_names_and_numbers_of_metrics_are_limited(engine: Engine, tmp_path: Path) -> None:
    for name, count in (("a@b", 1), ("n" * 90, 1), ("m", 51)):
        rows = [("ant", f"{name}{number}" if count > 1 else name, 1, 1) for number in range(count)]
        with pytest.raises(BadRequest, match=r"cannot be the name of a metric|there are 51 metrics"):
            take_in(engine, "wmt", table(tmp_path / "x.tsv", rows), test_set="news")
    rows = [("ant", f"m{number}", 1, 1) for number in range(50)]
    assert len(take_in(engine, "wmt", table(tmp_path / "x.tsv", rows), test_set="news").columns) == 50


def test_what_waits_in_a_campaign_is_reduced_at_once_and_nothing_of_others(engine: Engine, tmp_path: Path) -> None:
    for campaign in ("wmt", "iwslt"):
        file = comet(tmp_path / "c.json", {"ant": [1.0, 2.0, 3.0]})
        take_in(engine, campaign, file, test_set="news", work=False)
    reduce_now(engine, settings_of(engine), "wmt")
    with reading(engine) as connection:
        states = select(Reduction.state).order_by(Reduction.id)
        assert list(connection.scalars(states))[-2:] == ["done", "pending"]
        open_ones = connection.scalars(select(Evaluation.state).where(Evaluation.state != "done"))
        assert set(open_ones) == {"reducing"}
    assert shown(engine)["news"] == 2.0
