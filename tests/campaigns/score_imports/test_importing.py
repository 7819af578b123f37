"""Scores made elsewhere, in a campaign with texts: means, what is missing, and what is refused as a whole."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine, func, select

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.errors import BadRequest, Conflict, NotFound
from campaigns.permissions import read_access
from campaigns.rules import Rules, set_rules
from campaigns.score_imports.autorank import rank_by_autorank
from campaigns.score_imports.versions import choose_version, delete_version, list_versions
from campaigns.test_sets.files import NamedContent
from models.database.session import make_engine, reading, writing
from models.results.boards import list_boards
from models.results.leaderboard import LeaderboardRow
from models.results.statistics import read_statistics
from models.schema.campaigns import Campaign, CampaignProtocol
from models.schema.corpus import Document, TestSet
from models.schema.imported import ImportedScore, ScoreImport
from models.schema.queue import Shard
from models.schema.results import Score
from runtime.settings import Settings
from steelyard.errors import BadParameter
from steelyard.formats.scores.reading import read_scores
from steelyard.ranking.score_boards import RankOptions, score_board
from tests.campaigns.score_imports.scores import boards, comet, table, take_in
from tests.scheduler.jobs import work_off
from tests.service.campaigns import found, given, submit_output, with_test_set

OUTPUTS = {"ant": b"a\nb\nc\n", "bee": b"a\nb\nd\n", "cow": b"e\nf\ng\n"}


@pytest.fixture
def engine(database_url: str) -> Engine:
    """A campaign of three systems, measured by BLEU with 40 replicates, all done."""
    engine = make_engine(database_url)
    found(engine, "wmt")
    with_test_set(engine, "wmt", metrics=("bleu",), replicates=40)
    for system, lines in OUTPUTS.items():
        submit_output(engine, "wmt", f"{system}s", system, lines)
    work_off(settings_of(engine))
    return engine


def settings_of(engine: Engine) -> Settings:
    return Settings(database_url=engine.url.render_as_string(hide_password=False))


def news(engine: Engine) -> tuple[tuple[str, ...], dict[str, LeaderboardRow]]:
    shown = boards(engine, "wmt")
    assert list(shown) == ["news"]
    return shown["news"]


def test_a_column_has_the_means_and_intervals_of_rank(engine: Engine, tmp_path: Path) -> None:
    scores = {"ant": [0.25, 0.5, 1.0], "bee": [0.1, None, 0.4], "cow": [-0.3, 0.2, 0.7]}
    file = comet(tmp_path / "comet.json", scores)
    result = take_in(engine, "wmt", file)
    assert [(each.name, each.version, each.systems, each.new) for each in result.columns] == [("COMET", "1", 3, True)]
    assert any("bee (1)" in notice for notice in result.notices)
    metrics, rows = news(engine)
    assert metrics[0] == "bleu"
    assert metrics[1].startswith("imported:metric=COMET:sha256=")
    own = score_board(read_scores([file])[0], RankOptions(replicates=40))
    for line in own.systems:
        score = rows[line.system].scores[1]
        assert score.title == "COMET (imported)"
        assert score.score == line.scores[0].score
        assert len(score.replicate_scores) == 40
        if line.scores[0].interval:
            assert np.isfinite(score.replicate_scores).all()
    assert [rows[name].scores[1].rank for name in ("ant", "bee", "cow")] == [1, 2, 3]


def test_a_missing_system_has_no_score_and_strangers_are_listed(engine: Engine, tmp_path: Path) -> None:
    result = take_in(engine, "wmt", comet(tmp_path / "c.json", {"ant": [1, 2, 3], "bee": [1, 1, 1], "dog": [9, 9, 9]}))
    assert "news: left out, for they are no systems of the campaign: dog." in result.notices
    assert "news: no scores of cows/cow." in result.notices
    _, rows = news(engine)
    assert rows["cow"].scores[1].score is None
    assert rows["cow"].scores[1].rank is None
    assert rows["cow"].scores[0].score is not None


def test_a_later_output_has_none_and_needs_no_worker_for_the_column(engine: Engine, tmp_path: Path) -> None:
    take_in(engine, "wmt", comet(tmp_path / "c.json", {"ant": [1, 2, 3]}))
    submit_output(engine, "wmt", "elks", "elk", b"x\ny\nz\n")
    with reading(engine) as connection:
        waiting = connection.execute(select(Shard.metrics).where(Shard.state == "pending")).all()
    assert [row.metrics for row in waiting] == [[0]]
    work_off(settings_of(engine))
    assert news(engine)[1]["elk"].scores[1].score is None


def test_the_same_file_twice_is_there_once(engine: Engine, tmp_path: Path) -> None:
    file = comet(tmp_path / "c.json", {"ant": [1, 2, 3], "bee": [3, 2, 1]})
    take_in(engine, "wmt", file)
    before = news(engine)
    other = comet(tmp_path / "d.json", {"bee": [3, 2, 1], "ant": [1, 2, 3]})
    again = take_in(engine, "wmt", other)
    assert [each.new for each in again.columns] == [False]
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(ScoreImport)) == 1
        assert connection.scalar(select(func.count()).select_from(ImportedScore)) == 2
    assert news(engine)[0] == before[0]


def test_other_scores_are_another_version_that_can_be_chosen_and_deleted(engine: Engine, tmp_path: Path) -> None:
    take_in(engine, "wmt", comet(tmp_path / "c.json", {"ant": [1, 2, 3]}))
    take_in(engine, "wmt", comet(tmp_path / "d.json", {"ant": [4, 5, 6]}))
    metrics, rows = news(engine)
    assert len(metrics) == 2
    assert (rows["ant"].scores[1].score, rows["ant"].scores[1].title) == (5.0, "COMET 2 (imported)")
    with pytest.raises(Conflict, match="COMET@1 of news was imported with other scores"):
        take_in(engine, "wmt", comet(tmp_path / "e.json", {"ant": [7, 8, 9]}), metric="COMET@1")
    settings = settings_of(engine)
    with writing(engine) as connection:
        choose_version(connection, settings, lock_for_change(connection, COMMAND_LINE, "wmt"), "COMET@1")
    work_off(settings)
    assert news(engine)[1]["ant"].scores[1].score == 2.0
    with reading(engine) as connection:
        listed = list_versions(connection, read_access(connection, COMMAND_LINE, "wmt"))
    assert [(each.version, each.shown, each.actor) for each in listed] == [
        ("1", True, "command line"),
        ("2", False, "command line"),
    ]
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        with pytest.raises(NotFound, match="COMET@1, COMET@2"):
            delete_version(connection, settings, access, "COMET@3")
        assert len(delete_version(connection, settings, access, "COMET")) == 2
    work_off(settings)
    metrics, rows = news(engine)
    assert metrics == ("bleu",)
    assert rows["ant"].scores[0].score is not None
    with reading(engine) as connection:
        assert not connection.scalar(select(func.count()).select_from(ImportedScore))


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"ant": [1.0, 2.0]}, "There are 2 scores by COMET for each system, but the test set news has 3 segments"),
        ({"dog": [1.0, 2.0, 3.0]}, "None of the systems in the scores is one of those on news: dog"),
        ({"ant": [9e5] * 3, "bee": [1e6] * 3}, None),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_stored(
    engine: Engine, tmp_path: Path, scores: dict[str, list[float | None]], message: str | None
) -> None:
    file = comet(tmp_path / "c.json", scores)
    if message is None:
        take_in(engine, "wmt", file)
        assert news(engine)[1]["bee"].scores[1].score == 1e6
        return
    with pytest.raises(BadRequest, match=message):
        take_in(engine, "wmt", file)
    with reading(engine) as connection:
        assert not connection.scalar(select(func.count()).select_from(ScoreImport))
    assert news(engine)[0] == ("bleu",)


def test_segments_are_matched_by_number_wherever_they_stand(engine: Engine, tmp_path: Path) -> None:
    rows = [("ant", "X", 3, 30), ("ant", "X", 1, 10), ("bee", "X", 2, 5)]
    take_in(engine, "wmt", table(tmp_path / "x.tsv", rows))
    with reading(engine) as connection:
        (listed,) = [each for each in list_boards(connection, name="wmt") if len(each.metrics) == 2]
        evaluations = [row.evaluations[0] for row in news(engine)[1].values()]
        statistics = read_statistics(connection, evaluations, 1)
    by_system = dict(zip(news(engine)[1], statistics.tolist(), strict=True))
    assert by_system["ant"] == [[10, 1], [0, 0], [30, 1]]
    assert by_system["bee"] == [[0, 0], [5, 1], [0, 0]]
    assert by_system["cow"] == [[0, 0]] * 3
    assert listed.replicates == 40


def test_scores_of_systems_keep_all_digits_and_have_no_intervals(engine: Engine, tmp_path: Path) -> None:
    score = 0.7123456789012345
    take_in(engine, "wmt", table(tmp_path / "x.tsv", [("ant", "X", score), ("bee", "X", -3.25)], "system metric score"))
    _, rows = news(engine)
    assert rows["ant"].scores[1].score == score
    assert rows["bee"].scores[1].score == -3.25
    assert np.isnan(rows["ant"].scores[1].replicate_scores).any()


@pytest.mark.parametrize(
    ("unit", "value", "end"),
    [
        ("", (), "level:system|better:higher|segments:3"),
        (" segment", (1,), "level:segment|better:higher"),
        (" document", ("quay",), "level:document|better:higher"),
    ],
)
def test_a_signature_says_how_many_segments_there_are_or_nothing(
    unit: str, value: tuple[object, ...], end: str, database_url: str, tmp_path: Path
) -> None:
    engine = make_engine(database_url)
    found(engine, "wmt")
    documents = NamedContent("docs.tsv", b"segment\tdoc_id\n0\tquay\n1\tquay\n2\tmast\n")
    with_test_set(engine, "wmt", given(documents=documents), metrics=("bleu",), replicates=40)
    submit_output(engine, "wmt", "ants", "ant", OUTPUTS["ant"])
    take_in(engine, "wmt", table(tmp_path / "x.tsv", [("ant", "X", *value, 0.5)], f"system metric{unit} score"))
    with reading(engine) as connection:
        imported = Score.specification.startswith("imported")
        signatures = set(connection.scalars(select(Score.signature).where(imported)))
    assert [each.partition("|level")[2] for each in signatures] == [end.removeprefix("level")]


def test_scores_of_documents_are_means_of_documents(database_url: str, tmp_path: Path) -> None:
    engine = make_engine(database_url)
    found(engine, "wmt")
    documents = NamedContent("docs.tsv", b"segment\tdoc_id\tseg_in_doc\n0\tquay\t1\n1\tquay\t2\n2\tmast\t1\n")
    with_test_set(engine, "wmt", given(documents=documents), metrics=("bleu",), replicates=40)
    submit_output(engine, "wmt", "ants", "ant", OUTPUTS["ant"])
    rows = [("ant", "X", "mast", 3.0), ("ant", "X", "quay", 1.0), ("ant", "X", "pier", 9.0)]
    result = take_in(engine, "wmt", table(tmp_path / "x.tsv", rows, "system metric document score"))
    assert any("pier" in notice for notice in result.notices)
    assert boards(engine, "wmt")["news"][1]["ant"].scores[1].score == 2.0


def test_autorank_is_made_of_columns_that_there_are(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    found(engine, "empty")
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "empty")
        with pytest.raises(BadRequest) as refused:
            rank_by_autorank(connection, settings_of(engine), access)
        assert str(refused.value) == (
            "Nothing is measured in this campaign yet: AutoRank is made of the columns of leaderboards."
        )
        assert connection.scalar(select(Campaign.ranked_by)) == ""


def test_a_pair_that_can_be_no_name_makes_no_test_set(sqlite_url: str, tmp_path: Path) -> None:
    engine = make_engine(sqlite_url)
    found(engine, "empty")
    rows = [("en/cs", "ant", "X", 0.5)]
    with pytest.raises(BadRequest, match=r"^'en/cs' cannot be the name of a test set: it contains '/'; allowed are "):
        take_in(engine, "empty", table(tmp_path / "x.tsv", rows, "pair system metric score"), create=True)
    with reading(engine) as connection:
        assert connection.scalars(select(TestSet.id)).all() == []


def test_scores_of_documents_make_a_test_set_of_the_documents_they_name(sqlite_url: str, tmp_path: Path) -> None:
    engine = make_engine(sqlite_url)
    found(engine, "bare")
    rows = [("en-cs", "ant", "X", "quay", 0.5), ("en-cs", "ant", "X", "sea", 1.0), ("en-cs", "bee", "X", "sea", 0.25)]
    take_in(engine, "bare", table(tmp_path / "x.tsv", rows, "pair system metric document score"), create=True)
    with reading(engine) as connection:
        documents = select(Document.name, Document.first_segment, Document.segments)
        stored = connection.execute(documents.order_by(Document.first_segment)).all()
        languages = connection.execute(select(TestSet.source_language, TestSet.target_language, TestSet.segments)).one()
    assert [tuple(each) for each in stored] == [("quay", 0, 1), ("sea", 1, 1)]
    assert tuple(languages) == ("en", "cs", 2)
    ((_, systems),) = boards(engine, "bare").values()
    assert {name: row.scores[0].score for name, row in systems.items()} == {"ant": 0.75, "bee": 0.25}


def test_a_leaderboard_goes_with_its_only_column(sqlite_url: str, tmp_path: Path) -> None:
    engine = make_engine(sqlite_url)
    found(engine, "bare")
    rows = [("en-cs", "ant", "X", 1, 0.5), ("en-cs", "ant", "X", 2, 1.0)]
    take_in(engine, "bare", table(tmp_path / "x.tsv", rows, "pair system metric segment score"), create=True)
    assert [len(metrics) for metrics, _ in boards(engine, "bare").values()] == [1]
    with writing(engine) as connection:
        delete_version(connection, settings_of(engine), lock_for_change(connection, COMMAND_LINE, "bare"), "X")
    work_off(settings_of(engine))
    with reading(engine) as connection:
        assert connection.scalars(select(CampaignProtocol.protocol_id)).all() == []
        assert connection.scalars(select(ScoreImport.id)).all() == []
        assert len(connection.scalars(select(TestSet.id)).all()) == 1, "the test set stays"


def test_a_campaign_ranks_by_autorank_of_any_columns(engine: Engine, tmp_path: Path) -> None:
    given_scores = {"MX": (1.0, 2.0, 3.0), "Q": (0.0, 0.5, 1.0)}
    rows = [
        (system, metric, segment, score)
        for metric, scores in given_scores.items()
        for system, score in zip(OUTPUTS, scores, strict=True)
        for segment in (1, 2, 3)
    ]
    take_in(engine, "wmt", table(tmp_path / "x.tsv", rows), lower_is_better=["MX"])
    settings = settings_of(engine)
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        with pytest.raises(BadParameter, match="the leaderboard has no metric"):
            rank_by_autorank(connection, settings, access, metrics={"news": ["MX", "Z"]})
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        rank_by_autorank(connection, settings, access, rule="wmt24", metrics={"": ["MX", "Q"]}, weights={"": (3, 1)})
    work_off(settings)
    metrics, systems = news(engine)
    assert metrics[-1] == "autorank:rule=wmt24:of=2,3:weights=3,1"
    # MX from 1 to 4, and Q from 4 to 1.
    assert [systems[name].scores[3].score for name in ("ant", "bee", "cow")] == [1.75, 2.5, 3.25]
    with reading(engine) as connection:
        assert connection.scalar(select(Campaign.ranked_by)) == "autorank:rule=wmt24"
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        set_rules(connection, access, Rules(ranked_by="autorank"))
        rank_by_autorank(connection, settings, access, rule="wmt24", metrics={"": ["MX"]})
    work_off(settings)
    metrics, systems = news(engine)
    assert metrics[-1] == "autorank:rule=wmt24:of=2"
    assert [systems[name].scores[3].score for name in ("ant", "bee", "cow")] == [1.0, 2.5, 4.0]
    with writing(engine) as connection:
        delete_version(connection, settings, lock_for_change(connection, COMMAND_LINE, "wmt"), "MX")
    work_off(settings)
    metrics, _ = news(engine)
    assert [each.split(":")[0] for each in metrics] == ["bleu", "imported"]


def test_nothing_of_other_campaigns_comes_in(engine: Engine, tmp_path: Path) -> None:
    found(engine, "iwslt")
    with_test_set(engine, "iwslt", metrics=("bleu",), replicates=40)
    submit_output(engine, "iwslt", "bees", "bee", OUTPUTS["ant"])
    take_in(engine, "wmt", comet(tmp_path / "c.json", {"ant": [1, 2, 3]}))
    take_in(engine, "iwslt", comet(tmp_path / "d.json", {"bee": [4, 4, 4]}))
    assert news(engine)[1]["ant"].scores[1].score == 2.0
    assert boards(engine, "iwslt")["news"][1]["bee"].scores[1].score == 4.0


def test_a_removed_leaderboard_leaves_no_scores(engine: Engine, tmp_path: Path) -> None:
    take_in(engine, "wmt", comet(tmp_path / "c.json", {"ant": [1, 2, 3]}))
    with writing(engine) as connection:
        before = connection.scalar(select(func.count()).select_from(Score))
        delete_version(connection, settings_of(engine), lock_for_change(connection, COMMAND_LINE, "wmt"), "COMET@1")
        assert connection.scalar(select(func.count()).select_from(Score)) == before - 6 == 3
        assert connection.scalar(select(func.count()).select_from(CampaignProtocol)) == 1


def test_scores_of_systems_take_no_intervals_from_others_that_are_imported_with_them(
    database_url: str, tmp_path: Path
) -> None:
    engine = make_engine(database_url)
    found(engine, "wmt25")
    rows = [
        ("en-cs", system, "M", segment, place + segment) for place, system in enumerate(OUTPUTS) for segment in range(9)
    ]
    of_segments = table(tmp_path / "m.tsv", rows, "pair system metric segment score")
    of_systems = table(tmp_path / "x.tsv", [("en-cs", each, "X", 0.5) for each in OUTPUTS], "pair system metric score")
    take_in(engine, "wmt25", of_segments, of_systems, create=True)
    metrics, rows_of = boards(engine, "wmt25")["en-cs"]
    by_name = {metric.split(":")[1]: score for metric, score in zip(metrics, rows_of["ant"].scores, strict=True)}
    assert set(by_name) == {"metric=M", "metric=X"}
    drawn = by_name["metric=M"].replicate_scores
    assert len(drawn) > 100
    assert np.isfinite(drawn).all()
    assert np.ptp(drawn) > 0


def test_a_test_set_of_documents_alone(database_url: str, tmp_path: Path) -> None:
    lines = [
        {"language_pair": "en-cs_CZ", "domain": "news", "document_id": name, "metric_scores": {"M": scores}}
        for name, scores in (("a", [1.0, None]), ("b", [3.0]))
    ]
    for system in ("ant", "bee"):
        (tmp_path / f"{system}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    engine = make_engine(database_url)
    found(engine, "wmt25")
    take_in(engine, "wmt25", tmp_path, create=True)
    metrics, rows = boards(engine, "wmt25")["en-cs_CZ"]
    assert [rows[name].scores[0].score for name in ("ant", "bee")] == [2.0, 2.0]
    assert len(metrics) == 1
    # Once more: the test set is found again, and nothing is created.
    again = take_in(engine, "wmt25", tmp_path, create=True)
    assert [each.new for each in again.columns] == [False]
