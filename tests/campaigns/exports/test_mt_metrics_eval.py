"""Campaigns in the layout of mt-metrics-eval, loaded as its own reader would in strict mode."""

from __future__ import annotations

import csv
import io
import json
import math
import zipfile
from pathlib import Path

import pytest
from sqlalchemy import select, update

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.changes import lock_for_change
from campaigns.errors import BadRequest, NotFound
from campaigns.exports.mt_metrics_eval import export_mt_metrics_eval
from campaigns.exports.names import GivenNames, reference_word, word
from campaigns.score_imports.autorank import rank_by_autorank
from models.corpus.judgments import NewJudgments, SystemRow, store_judgments
from models.database.session import writing
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignTestSet
from models.schema.corpus import TestSet
from models.schema.roles import Feedback, PhaseKind, SiteRole, TeamRole
from models.schema.states import JudgmentKind
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.judgments import ingest_judgments
from scheduler.ingest.test_sets import NewTestSet
from steelyard.formats.campaign.campaigns import read_test_sets
from steelyard.meta_evaluation.human.judgments import Judged, JudgedSpan, Judgment, SegmentScore, SystemScore
from steelyard.meta_evaluation.human.reading import Reading, read_judgments
from steelyard.metrics.registry import parse_metric
from tests.campaigns.exports.mtme_reader import load
from tests.campaigns.score_imports.scores import take_in
from tests.scheduler.jobs import work_off
from tests.service.service import DAY, Service

SOURCE = b"one\ntwo\nthree\nfour"
DOCUMENTS = [("a doc", "news", ""), ("b", "talk", ""), ("a doc", "news", ""), ("a doc", "news", "")]
WMT24 = Path(__file__).parents[4] / "shared" / "data" / "wmt24"


def new(name: str, references: dict[str, bytes], pair: str, **values) -> NewTestSet:
    source, _, target = pair.partition("-")
    return NewTestSet(name, references, source=SOURCE, source_language=source, target_language=target, **values)


@pytest.fixture
def awkward(service: Service) -> Service:
    """Names with blanks and slashes, a reference called `all`, carriage returns, documents in two pieces."""
    service.campaign("port")
    metrics = [parse_metric(each) for each in ("chrf", "ter")]
    for test_set, references in (
        (
            new("en-cs", {"A": b"jedna\ndva\ntri\nctyri", "all": b"1\n2\n3\n4"}, "en-cs", documents=DOCUMENTS),
            ["A", "all"],
        ),
        (new("news of today", {"ref": b"eins\nzwei\ndrei\nvier"}, "en-de"), ["ref"]),
    ):
        ingest_campaign(
            service.engine,
            service.settings,
            campaign="port",
            test_set=test_set,
            submissions=[
                NewSubmission("Cohere CAT+", b"jedna\ndva\n\nctyri"),
                NewSubmission("mast", b"je\rdna\n[No translation supplied]\ntri\n\xe2\x80\xa8x", "harbour"),
                NewSubmission("mast", b"a\nb\nc\nd", "guests"),
                NewSubmission("refA", b"jedna\ndva\ntri\nctyri"),
            ],
            protocols=[NewProtocol(references[:count], metrics, 0) for count in range(1, len(references) + 1)],
        )
    work_off(service.settings)
    ids = id_of(service, "port", "en-cs")
    systems = [SystemScore("harbour/mast", 80.0), SystemScore("A", 95.5), SystemScore("unknown", 1.0)]
    segments = [SegmentScore("harbour/mast", 2, 80.0), SegmentScore("A", 0, 95.5)]
    judgments = [Judgment("Zoe Secret", "harbour/mast", 2, 80.0), Judgment("Zoe Secret", "A", 0, 95.5)]
    spans = [JudgedSpan("Zoe Secret", "harbour/mast", 2, 0, 2, "minor", "Accuracy", missing=False, in_source=False)]
    judged = Judged("ratings", {}, systems, segments, judgments, spans=spans)
    ingest_judgments(service.engine, *ids, "esa wave 1", judged)
    return service


def id_of(service: Service, campaign: str, pair: str) -> tuple[int, int]:
    with writing(service.engine) as connection:
        campaign_id = connection.scalar(select(Campaign.id).where(Campaign.name == campaign))
        of_pair = TestSet.source_language == pair[:2], TestSet.target_language == pair[3:]
        test_set = connection.scalar(select(TestSet.id).where(*of_pair))
    assert campaign_id
    assert test_set
    return campaign_id, test_set


def written(service: Service, folder: Path, campaign: str = "port", principal: Principal = COMMAND_LINE, *wanted: str):
    content = b"".join(export_mt_metrics_eval(service.engine, principal, campaign, wanted))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        archive.extractall(folder)
    return json.loads((folder / "names.json").read_text())


def test_strict_reader_loads_awkward_names_and_texts(awkward: Service, tmp_path: Path) -> None:
    names = written(awkward, tmp_path)
    found = load(tmp_path, "en-cs")
    assert found.source == ["one", "two", "three", "four"]
    assert found.documents == {"a_doc": (0, 1), "b": (1, 2), "a_doc_2": (2, 4)}
    assert found.domains == ["news", "talk"]
    assert found.references == {"refA": ["jedna", "dva", "tri", "ctyri"], "ref_all": ["1", "2", "3", "4"]}
    assert set(found.outputs) == {"Cohere_CAT+", "harbour-mast", "guests-mast", "refA_2", "refA"}
    # What its reader would cut, or take for missing, is in JSON Lines.
    assert found.outputs["harbour-mast"] == ["je\rdna", "[No translation supplied]", "tri", "\u2028x"]
    assert found.outputs["Cohere_CAT+"] == ["jedna", "dva", "", "ctyri"]
    assert found.humans == {"refA"}
    about = names["pairs"]["en-cs"]
    assert about["systems"]["harbour-mast"] == "harbour/mast"
    assert about["references"] == {"refA": "A", "ref_all": "all"}
    assert set(load(tmp_path, "en-de").references) == {"ref"}
    for folder in ("human-scores", "metric-scores", "documents", "system-outputs"):
        assert "Secret" not in "".join(path.read_text() for path in (tmp_path / folder).rglob("*.*"))


def test_metric_scores_are_those_of_the_leaderboard_and_higher_is_better(awkward: Service, tmp_path: Path) -> None:
    about = written(awkward, tmp_path)["pairs"]["en-cs"]
    metrics = load(tmp_path, "en-cs").metrics
    assert {name for name, _ in metrics} == {
        f"{each}-{ref}" for each in ("chrF2", "TER") for ref in ("refA", "refA.ref_all")
    }
    assert metrics["chrF2-refA", "sys"]["refA_2"] == [100.0]
    assert metrics["chrF2-refA", "seg"]["Cohere_CAT+"][2] == 0.0
    assert metrics["TER-refA", "seg"]["guests-mast"][0] == -100.0
    assert about["metrics"]["TER-refA"]["negated"]
    assert not about["metrics"]["chrF2-refA"]["negated"]
    # A judged reference is a system, too: it has no score of its own, which is not 0.
    assert "refA" not in metrics["chrF2-refA", "sys"] or math.isnan(metrics["chrF2-refA", "sys"]["refA"][0])


def test_judgments_and_marked_errors(awkward: Service, tmp_path: Path) -> None:
    about = written(awkward, tmp_path)["pairs"]["en-cs"]
    found = load(tmp_path, "en-cs")
    assert found.human["esa_wave_1", "seg"] == {
        "harbour-mast": [None, None, 80.0, None],
        "refA": [95.5, None, None, None],
    }
    assert found.human["esa_wave_1", "sys"] == {"harbour-mast": [80.0], "refA": [95.5]}
    ratings = found.ratings["esa_wave_1"]
    error = {"start": 0, "end": 2, "category": "Accuracy", "severity": "minor", "is_source_error": False}
    assert ratings["harbour-mast"] == [None, None, {"errors": [error]}, None]
    assert ratings["refA"] == [{"errors": []}, None, None, None]
    assert about["human_scores"] == {"esa_wave_1": "esa wave 1@1"}
    assert any("unknown" in each for each in about["left_out"])


def test_the_last_of_several_runs_stands_for_a_judged_system(service: Service, tmp_path: Path) -> None:
    """Judgments name systems without their runs: the one that came in last, whatever it is called."""
    service.campaign("port")
    for run in ("b", "c", "a"):
        ingest_campaign(
            service.engine, service.settings, campaign="port",
            submissions=[NewSubmission("mast", f"a\nb\nc\n{run}".encode(), "harbour", run=run)],
            test_set=new("en-cs", {"A": b"jedna\ndva\ntri\nctyri"}, "en-cs"),
            protocols=[NewProtocol(["A"], [parse_metric("chrf")], 0)],
        )  # fmt: skip
    work_off(service.settings)
    judged = Judged("scores", {}, [SystemScore("harbour/mast", 80.0)], [SegmentScore("harbour/mast", 2, 80.0)])
    ingest_judgments(service.engine, *id_of(service, "port", "en-cs"), "esa", judged)
    names = written(service, tmp_path)["pairs"]["en-cs"]["systems"]
    assert list(names.values()) == [f"harbour/mast, run {run}" for run in "abc"]
    (last,) = [name for name, called in names.items() if called.endswith("run a")]
    human = load(tmp_path, "en-cs").human
    assert human == {("esa", "sys"): {last: [80.0]}, ("esa", "seg"): {last: [None, None, 80.0, None]}}


def test_imported_scores_keep_the_references_in_their_names(awkward: Service, tmp_path: Path) -> None:
    score = "".join(f"guests/mast\t{each}\n" for each in (0.1, 0.2, 0.3, 0.5))
    folder = tmp_path / "scores" / "en-cs"
    folder.mkdir(parents=True)
    for name in ("XCOMET-XL", "COMET-refA"):
        (folder / f"{name}.seg.score").write_text(score)
    take_in(awkward.engine, "port", *folder.iterdir())
    written(awkward, tmp_path / "out")
    metrics = load(tmp_path / "out", "en-cs").metrics
    for name in ("XCOMET-XL-src", "COMET-refA"):
        found = metrics[name, "seg"]["guests-mast"]
        assert [round(each or 0, 6) for each in found] == [0.1, 0.2, 0.3, 0.5]
        assert all(math.isnan(each or 0) for each in metrics[name, "seg"]["Cohere_CAT+"])


def test_our_own_reader_takes_it_back(awkward: Service, tmp_path: Path) -> None:
    written(awkward, tmp_path)
    campaign = read_test_sets([tmp_path])
    assert [each.name for each in campaign.test_sets] == ["en-cs", "en-de"]
    czech = campaign.test_sets[0]
    assert set(czech.systems) == {"Cohere_CAT+", "harbour-mast", "guests-mast", "refA_2"}
    assert czech.documents is not None
    assert [each.domain for each in czech.documents] == ["news", "talk", "news", "news"]


def test_two_test_sets_of_one_pair_are_refused_and_one_can_be_chosen(awkward: Service, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no test set"):
        written(awkward, tmp_path, "port", COMMAND_LINE, "other")
    ingest_campaign(
        awkward.engine,
        awkward.settings,
        campaign="port",
        test_set=new("more", {"ref": b"a\nb\nc\nd"}, "en-de"),
        submissions=[],
        protocols=[],
    )
    with pytest.raises(BadRequest, match=r"news of today and more|more and news of today"):
        written(awkward, tmp_path)
    written(awkward, tmp_path, "port", COMMAND_LINE, "more")
    assert load(tmp_path, "en-de").outputs == {}


def test_others_get_what_they_may_see(awkward: Service, tmp_path: Path) -> None:
    campaign = awkward.campaign("port")
    awkward.phase(campaign, "blind", PhaseKind.BLIND, ends=DAY)
    with pytest.raises(NotFound, match="texts that you may see"):
        written(awkward, tmp_path, "port", NOBODY)
    with pytest.raises(NotFound, match="no campaign"):
        export_mt_metrics_eval(awkward.engine, NOBODY, "other")


@pytest.mark.parametrize(("feedback", "scored"), [(Feedback.ROUNDED, False), (Feedback.FULL, True)])
def test_a_team_gets_its_own_in_a_blind_phase(
    awkward: Service, tmp_path: Path, feedback: Feedback, scored: bool
) -> None:
    """Not what people said of the systems, nor a score that is withheld, though the references are released."""
    mary = awkward.account("mary")
    campaign = awkward.campaign("port", teams=(awkward.team("harbour", mary),))
    awkward.phase(campaign, "blind", PhaseKind.BLIND, ends=DAY, feedback=feedback)
    with writing(awkward.engine) as connection:
        connection.execute(update(CampaignTestSet).values(references_released_at=now()))
    teams = {"harbour": TeamRole.MEMBER}
    names = written(awkward, tmp_path, "port", Principal(mary, scopes=EVERY_SCOPE, teams=teams, role=SiteRole.VIEWER))
    found = load(tmp_path, "en-cs")
    assert set(found.outputs) == {"harbour-mast"}
    assert (found.human, found.ratings, names["pairs"]["en-cs"]["human_scores"]) == ({}, {}, {})
    assert bool(found.metrics) is scored


def test_the_newest_judgments_are_exported(awkward: Service, tmp_path: Path) -> None:
    systems = [SystemScore("harbour/mast", 70.0)]
    ingest_judgments(awkward.engine, *id_of(awkward, "port", "en-cs"), "esa wave 1", Judged("scores", {}, systems, []))
    about = written(awkward, tmp_path)["pairs"]["en-cs"]
    assert about["human_scores"] == {"esa_wave_1": "esa wave 1@2"}
    assert load(tmp_path, "en-cs").human == {("esa_wave_1", "sys"): {"harbour-mast": [70.0]}}


def test_what_has_no_file_is_told_and_by_name_to_who_sees_names(awkward: Service, tmp_path: Path) -> None:
    ids = id_of(awkward, "port", "en-cs")
    with writing(awkward.engine) as connection:
        judged = NewJudgments("da", JudgmentKind.SCORES, {}, [SystemRow("gone", 1.0)])
        store_judgments(connection, *ids, judged)
        connection.execute(update(CampaignTestSet).values(references_released_at=now()))
        rank_by_autorank(connection, awkward.settings, lock_for_change(connection, COMMAND_LINE, "port"), rule="wmt24")
    work_off(awkward.settings)
    about = written(awkward, tmp_path / "all")["pairs"]["en-cs"]
    assert list(about["human_scores"]) == ["esa_wave_1"]
    assert not [each.name for each in (tmp_path / "all" / "human-scores").iterdir() if ".da." in each.name]
    assert not [each.name for each in (tmp_path / "all" / "metric-scores" / "en-cs").iterdir() if "uto" in each.name]
    assert about["left_out"] == [
        *["AutoRank wmt24: a rank of the systems, no score of theirs."] * 2,
        "da@1: judged, but without an output that you may see: gone.",
        "esa wave 1@1: judged, but without an output that you may see: unknown.",
    ]
    awkward.campaign("port", anonymous=True)
    assert written(awkward, tmp_path / "again")["pairs"]["en-cs"]["left_out"] == about["left_out"]
    seen = written(awkward, tmp_path / "seen", "port", NOBODY)["pairs"]["en-cs"]
    assert seen["left_out"][-2:] == [
        "da@1: judged, but without an output that you may see: 1 system.",
        "esa wave 1@1: judged, but without an output that you may see: 1 system.",
    ]


def test_names() -> None:
    given = GivenNames(["refA"])
    assert [given.give(each) for each in ("refa", "x", "X", "x")] == ["refa_2", "x", "X_2", "x_3"]
    assert word(" GPT\t5.5/x ") == "_GPT_5.5_x_"
    assert word("..") == "unnamed"
    assert [reference_word(each) for each in ("A", "all", "src", "post.edit-A", "")] == [
        *("refA", "ref_all", "ref_src", "post_edit_A", "ref"),
    ]


@pytest.mark.skipif(not WMT24.exists(), reason="the real data are not here")
def test_wmt24_with_its_judgments(service: Service, tmp_path: Path) -> None:
    folder = read_test_sets([WMT24], pairs=["en-cs"]).test_sets[0]
    ingest_campaign(
        service.engine,
        service.settings,
        campaign="wmt24",
        test_set=NewTestSet(
            folder.name, folder.references, source=folder.source, documents=folder.documents or (),
            source_language="en", target_language="cs",
        ),
        submissions=[NewSubmission(name, text) for name, text in folder.systems.items()],
        protocols=[NewProtocol(["refA"], [parse_metric("chrf")], 0)],
    )  # fmt: skip
    work_off(service.settings)
    ids = id_of(service, "wmt24", "en-cs")
    documents = {}
    for segment, document in enumerate(folder.documents or ()):
        documents.setdefault(document.doc_id, []).append(segment)
    judged = read_judgments([WMT24 / "human" / "en-cs.esa.csv"], Reading(folder.segments, documents))
    ingest_judgments(service.engine, *ids, "esa", judged)
    written(service, tmp_path, "wmt24")
    found = load(tmp_path, "en-cs")
    assert found.humans == {"refA"}
    assert len(found.outputs) == 17
    with (WMT24 / "expected_human.tsv").open() as file:
        expected = {
            row["system"]: float(row["micro"])
            for row in csv.DictReader(file, delimiter="\t")
            if (row["pair"], row["mode"]) == ("en-cs", "macro")
        }
    of_systems = {name: scores[0] for name, scores in found.human["esa", "sys"].items()}
    assert of_systems == pytest.approx(expected, abs=1e-9)
    assert sum(each is not None for own in found.human["esa", "seg"].values() for each in own) == 16 * 297
    again = read_test_sets([tmp_path]).test_sets[0]
    assert {name: text.bytes for name, text in again.systems.items()} == {
        name: text.bytes for name, text in folder.systems.items()
    }
