"""`steelyard judgments`, and judgments in a campaign folder."""

import json
from pathlib import Path

import pytest
from sqlalchemy import select

from cli.main import main
from models.corpus.test_sets import find_test_set
from models.database.session import make_engine, reading, writing
from models.schema.accounts import AuditEntry
from models.schema.states import JudgmentKind
from scheduler.ingest.campaigns import NewSubmission, store_campaign, store_submissions
from scheduler.ingest.test_sets import NewTestSet, link_test_set, store_test_set
from steelyard.meta_evaluation.human import kinds
from steelyard.meta_evaluation.human import reading as reading_module
from steelyard.meta_evaluation.human.beside_texts import judgments_name
from steelyard_client.commands.human.judgments import KINDS, SYSTEM_SCORES
from tests.cli.keyboard import answer

RATINGS = """\
annotator\tsystem\tsegment\tscore
eva\tanna\t0\t40
eva\tbert\t0\t60
eva\tHUMAN-A\t1\t80
eva\tHUMAN-A\t0\t80
jan\tanna\t0\t75
jan\tanna\t1\t85
jan\tbert\t0\t95
jan\tbert\t1\t95
jan\tHUMAN-A\t0\t95
"""


@pytest.fixture
def database(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """One test set of three segments with the systems anna and carl."""
    monkeypatch.setenv("STEELYARD_DATABASE_URL", sqlite_url)
    documents = [("d1", "", ""), ("d1", "", ""), ("d2", "", "")]
    with writing(make_engine(sqlite_url)) as connection:
        campaign = store_campaign(connection, "harbour")
        test_set = store_test_set(connection, campaign, NewTestSet("harbour", {"A": b"x\ny\nz"}, documents=documents))
        submissions = [NewSubmission(name, f"{name}\ny\nz".encode()) for name in ("anna", "carl")]
        store_submissions(connection, campaign, test_set, submissions)
    return sqlite_url


@pytest.fixture
def ratings(tmp_path: Path) -> str:
    (tmp_path / "da.tsv").write_text(RATINGS)
    return str(tmp_path / "da.tsv")


def printed(capsys, *arguments: str) -> str:
    assert main(["judgments", *arguments]) == 0
    return capsys.readouterr().out


def test_before_anything_is_submitted_no_judged_system_misses_a_submission(
    sqlite_url: str, ratings: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STEELYARD_DATABASE_URL", sqlite_url)
    with writing(make_engine(sqlite_url)) as connection:
        campaign = store_campaign(connection, "harbour")
        store_test_set(connection, campaign, NewTestSet("harbour", {"A": b"x\ny\nz"}))
    printed(capsys, "import", ratings)
    shown = printed(capsys, "show")
    assert "bert" in shown
    assert "without a submission" not in shown


def test_import_list_and_show(database, ratings, capsys):
    assert main(["judgments", "import", ratings]) == 0
    out, err = capsys.readouterr()
    assert out == "da@1 of harbour: 9 ratings by 2 annotators, scores of 3 systems and 6 segments.\n"
    assert "Judged and submitted: anna." in err
    assert "Judged, but not submitted under that name: bert. Where they" in err
    assert "Submitted, but not judged: carl." in err
    assert printed(capsys, "import", ratings, "--test-set", "harbour") == (
        "da@1 of harbour (was there already): 9 ratings by 2 annotators, scores of 3 systems and 6 segments.\n"
    )
    assert printed(capsys, "import", ratings, "--no-standardise").startswith("da@2 of harbour: ")
    assert printed(capsys, "list").splitlines()[2:] == [
        "harbour   harbour   da@2       ratings  not standardised; scores of systems: means over segments",
        "harbour   harbour   da@1       ratings  standardised by annotator; scores of systems: means over segments",
    ]
    assert (
        printed(capsys, "show", "da@1", "-w", "2")
        == """\
da@1: ratings of harbour
Rank  Range  System   Score  Wins    Raw  Segments  Judgments
----  -----  -------  -----  ----  -----  --------  ---------
   1    1-3  HUMAN-A   0.76     0  83.75         2          3
   2    1-3  bert      0.44     0  86.25         2          3
   3    1-3  anna     -0.94     0  71.25         2          3

Range: possible ranks according to the tests. A line separates clusters (WMT's rule: one-sided \
Mann-Whitney test on all judged segments, p < 0.05).
Standardised by annotator; scores of systems: means over segments.
2 annotators; two of them agree on a pair of systems in 66.7 % of 3 comparisons (kappa 0.456).
Krippendorff's alpha 0.018, on 3 outputs judged by several.
Human translations: HUMAN-A.
Judged, but without a submission: bert.
Submitted, but not judged: carl.

Annotators
Annotator  Judgments  Outputs    Mean  Deviation  Shared       z
---------  ---------  -------  ------  ---------  ------  ------
        1          4        4  65.000     19.149       3  -1.542
        2          5        5  89.000      8.944       3   1.542

z: mean difference from others on shared outputs, in standard deviations of all values.
"""
    )


@pytest.mark.parametrize("form", ["{}", "crew/{}", "CREW-{}"])
def test_systems_are_found_as_people_call_them(database, tmp_path, capsys, form):
    with writing(make_engine(database)) as connection:
        campaign, test_set = store_campaign(connection, "other"), find_test_set(connection).id
        link_test_set(connection, campaign, test_set, "harbour")
        store_submissions(connection, campaign, test_set, [NewSubmission("Tug 2", b"x\ny\nz", "crew")])
    file = tmp_path / "da.tsv"
    file.write_text(f"system\tscore\n{form.format('tug2')}\t1\nanna\t0\nzoe\t2\n")
    assert main(["judgments", "import", str(file), "--campaign", "other"]) == 0
    err = capsys.readouterr().err
    assert "Judged and submitted: Tug 2." in err
    assert "not submitted under that name: anna, zoe." in err
    shown = json.loads(printed(capsys, "show", "-f", "json", "--campaign", "other"))["systems"]
    assert {each["system"]: each["submitted"] for each in shown} == {"Tug 2": True, "anna": False, "zoe": False}


def test_judgments_are_a_campaigns_and_where_several_have_the_test_set_one_is_named(database, ratings, capsys):
    with writing(make_engine(database)) as connection:
        campaign, test_set = store_campaign(connection, "other"), find_test_set(connection).id
        link_test_set(connection, campaign, test_set, "harbour")
        store_submissions(connection, campaign, test_set, [NewSubmission("anna", b"x\ny\nz")])
    for verb in (["import", ratings], ["show"], ["delete", "da"]):
        assert main(["judgments", *verb]) == 1
        assert "Several campaigns have the test set harbour: harbour, other. Choose one with" in capsys.readouterr().err
        assert main(["judgments", *verb, "--campaign", "port"]) == 1
        assert "There is no campaign 'port'" in capsys.readouterr().err
    printed(capsys, "import", ratings, "--campaign", "other")
    assert printed(capsys, "list", "--campaign", "harbour").startswith("No human judgments yet")
    assert [each["campaign"] for each in json.loads(printed(capsys, "list", "-f", "json"))] == ["other"]
    assert main(["judgments", "show", "--campaign", "harbour"]) == 1
    assert printed(capsys, "show", "--campaign", "other").startswith("da@1: ")
    printed(capsys, "import", ratings, "--campaign", "harbour", "--no-standardise")
    listed = [line.split()[:3] for line in printed(capsys, "list").splitlines()]
    assert [listed[0], *listed[2:]] == [
        ["Campaign", "Test", "set"], ["harbour", "harbour", "da@1"], ["other", "harbour", "da@1"],
    ]  # fmt: skip
    printed(capsys, "delete", "da", "--campaign", "harbour", "--yes")
    assert [each["campaign"] for each in json.loads(printed(capsys, "list", "-f", "json"))] == ["other"]


def test_judgments_of_other_systems_are_refused(database, tmp_path, capsys):
    file = tmp_path / "da.tsv"
    file.write_text("system\tscore\nzoe\t1\nyan\t2\nHUMAN-A\t3\n")
    assert main(["judgments", "import", str(file)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "nothing was stored. Judged: yan, zoe, HUMAN-A. Submitted: anna, carl." in err
    assert "rename them: OLD=NEW" in err
    assert printed(capsys, "list").startswith("No human judgments yet")
    assert main(["judgments", "import", str(file), "--rename", "zoe=Carl"]) == 0
    assert "Judged and submitted: carl." in capsys.readouterr().err


def test_before_there_are_submissions_names_stay_as_they_are(database, tmp_path, capsys):
    with writing(make_engine(database)) as connection:
        store_test_set(connection, store_campaign(connection, "quays"), NewTestSet("quay", {"A": b"x\ny"}))
    file = tmp_path / "da.tsv"
    file.write_text("system\tscore\nZoe\t1\n")
    assert main(["judgments", "import", str(file), "--test-set", "quay"]) == 0
    assert "no submissions yet" in capsys.readouterr().err
    assert "Zoe" in printed(capsys, "show", "--test-set", "quay")


def test_judgments_are_removed_and_those_before_stand_again(database, ratings, capsys, monkeypatch):
    printed(capsys, "import", ratings)
    printed(capsys, "import", ratings, "--no-standardise")
    assert main(["judgments", "delete", "da", "--test-set", "harbour"]) == 1
    assert "Add --yes" in capsys.readouterr().err
    answer(monkeypatch, "n\n")
    assert main(["judgments", "delete", "da"]) == 1
    assert "Delete the human judgments da@2 of harbour? [y/N] " in capsys.readouterr().out
    assert printed(capsys, "show").startswith("da@2: ")
    assert main(["judgments", "delete", "da@3", "--yes"]) == 1
    assert "There are: da@2, da@1." in capsys.readouterr().err
    answer(monkeypatch, "y\n")
    assert printed(capsys, "delete", "da").endswith("Deleted: da@2 of harbour.\n")
    assert printed(capsys, "show").startswith("da@1: ")
    assert printed(capsys, "delete", "da@1", "--test-set", "harbour", "--yes") == "Deleted: da@1 of harbour.\n"
    assert printed(capsys, "list").startswith("No human judgments yet")
    with reading(make_engine(database)) as connection:
        entries = connection.execute(select(AuditEntry).order_by(AuditEntry.id)).all()
    assert {each.actor for each in entries} == {"command line"}
    assert None not in {each.campaign_id for each in entries}
    assert [(each.action, each.subject, each.details) for each in entries] == [
        ("human-scores.add", "human scores da@1 of test set harbour@1", {"systems": 3, "segments": 6}),
        ("human-scores.add", "human scores da@2 of test set harbour@1", {"systems": 3, "segments": 6}),
        ("human-scores.remove", "human scores da@2 of test set harbour@1", {}),
        ("human-scores.remove", "human scores da@1 of test set harbour@1", {}),
    ]


def test_rankings_are_counted_and_not_their_ranks(database, tmp_path, capsys):
    file = tmp_path / "order.tsv"
    rows = [f"eva\t{segment}\t1\t{system}\t{rank}" for segment in (0, 1) for rank, system in ((1, "anna"), (2, "carl"))]
    file.write_text("\n".join(["annotator\tsegment\tranking\tsystem\trank", *rows]) + "\n")
    assert printed(capsys, "import", str(file)).endswith(
        "2 rankings by 1 annotator, scores of 2 systems and 4 segments.\n"
    )


def test_machine_output_has_full_precision(database, ratings, capsys):
    printed(capsys, "import", ratings, "--name", "crowd")
    content = json.loads(printed(capsys, "show", "crowd", "-f", "json"))
    assert {key: content[key] for key in ("test_set", "name", "version", "kind", "annotators")} == {
        "test_set": "harbour", "name": "crowd", "version": 1, "kind": "ratings", "annotators": 2,
    }  # fmt: skip
    assert content["method"] == {"standardised": True, "system_scores": "means"}
    assert content["agreement"] == {"comparisons": 3, "share": 2 / 3, "kappa": pytest.approx(0.456, abs=1e-3)}
    first, second, third = content["systems"]
    assert (first["system"], first["reference"], first["submitted"]) == ("HUMAN-A", True, False)
    assert (second["system"], second["reference"], second["submitted"]) == ("bert", False, False)
    assert (third["system"], third["rank"], third["rank_low"], third["rank_high"]) == ("anna", 3, 1, 3)
    assert (third["cluster"], third["cluster_first"], third["cluster_last"]) == (1, 1, 3)
    header, *rows = [line.split("\t") for line in printed(capsys, "show", "-f", "tsv").splitlines()]
    assert header[0] == "system"
    assert [float(row[header.index("score")]) for row in rows] == [each["score"] for each in content["systems"]]
    segments = json.loads(printed(capsys, "show", "--granularity", "segment", "-f", "json"))["segments"]
    assert [(each["system"], each["segment"], each["raw"]) for each in segments][:2] == [
        ("HUMAN-A", 0, 87.5), ("HUMAN-A", 1, 80.0),
    ]  # fmt: skip
    listed = json.loads(printed(capsys, "list", "-f", "json"))
    assert [(each["test_set"], each["name"]) for each in listed] == [("harbour", "crowd@1")]
    assert printed(capsys, "list", "-f", "tsv").splitlines()[1].startswith("harbour\tharbour\tcrowd@1\tratings\t")


def test_shown_segments_can_be_imported_again(database, ratings, tmp_path, capsys):
    printed(capsys, "import", ratings)
    (tmp_path / "human.seg.tsv").write_text(printed(capsys, "show", "--granularity", "segment", "-f", "tsv"))
    printed(capsys, "import", str(tmp_path / "human.seg.tsv"))
    before = json.loads(printed(capsys, "show", "da", "-f", "json"))["systems"]
    after = json.loads(printed(capsys, "show", "human", "-f", "json"))["systems"]
    assert after == before
    assert "HUMAN-A        0   0.727" in printed(capsys, "show", "--granularity", "segment", "human")


def test_judgments_of_systems_without_scores_are_added_up(database, tmp_path, capsys):
    rows = "anna\t0\t1\t2\nanna\t1\t2\t3\ncarl\t2\t3\t4\n"
    (tmp_path / "few.tsv").write_text(f"system\tsegment\tscore\tn_judgments\n{rows}")
    printed(capsys, "import", str(tmp_path / "few.tsv"))
    lines = [line.split() for line in printed(capsys, "show").splitlines()]
    assert ["anna", "2", "5"] in lines
    assert ["carl", "1", "4"] in lines


def test_only_segments(database, tmp_path, capsys):
    (tmp_path / "few.csv").write_text("doc_id,seg_in_doc,system,score\nd1,2,anna,1\nd2,1,carl,2\n")
    assert main(["judgments", "import", str(tmp_path / "few.csv")]) == 0
    out, err = capsys.readouterr()
    assert out == "few@1 of harbour: scores of 2 segments.\n"
    assert "judged on no segment in common" in err
    shown = printed(capsys, "show")
    assert "anna           1        n/a" in shown
    assert "Systems have no scores: see --granularity segment." in shown
    assert json.loads(printed(capsys, "show", "-f", "json"))["systems"] == []


def test_only_published_scores(database, tmp_path, capsys):
    (tmp_path / "sys.tsv").write_text("system\tscore\twins\nanna\t1.5\t1\ncarl\t-1\t0\n")
    printed(capsys, "import", str(tmp_path / "sys.tsv"), "--name", "won")
    assert printed(capsys, "show", "won").splitlines()[1:] == [
        "Rank  System   Score  Wins",
        "----  ------  ------  ----",
        "   1  anna     1.500     1",
        "----  ------  ------  ----",
        "   2  carl    -1.000     0",
        "",
        "A line separates clusters (WMT's rule, from the published numbers of wins).",
        "Scores of systems: as published.",
    ]
    assert main(["judgments", "show", "won", "--granularity", "segment"]) == 1
    assert "won@1 has no scores of segments" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["import", "FILE", "--test-set", "port"], 1, 'There is no test set "port". There are: harbour.'),
        (["import", "nowhere.tsv"], 1, "nowhere.tsv: there is no such file"),
        (["import", "FILE", "--name", "a@b"], 1, "The name of judgments has 1 to 100 visible characters, without @"),
        (["import", "FILE", "--weights", "much"], 2, "'much' is no weight of errors"),
        (["import", "FILE", "--rename", "zoe=anna"], 1, "no system 'zoe' to rename"),
        (["import", "FILE", "--kind", "errors"], 1, "errors need a column 'category'"),
        (["show"], 1, "The test set has no human judgments. Import some"),
    ],
)
def test_what_goes_wrong_is_said(database, ratings, capsys, arguments, status, message):
    assert main(["judgments", *(ratings if word == "FILE" else word for word in arguments)]) == status
    assert message in capsys.readouterr().err
    assert printed(capsys, "list").startswith("No human judgments yet")


def test_several_test_sets_need_a_choice(database, ratings, capsys):
    with writing(make_engine(database)) as connection:
        store_test_set(connection, store_campaign(connection, "harbour"), NewTestSet("harbour", {"A": b"x\ny\nzz"}))
    assert main(["judgments", "import", ratings]) == 1
    assert "several test sets: harbour@1, harbour@2. Choose one with --test-set" in capsys.readouterr().err
    assert printed(capsys, "import", ratings, "--test-set", "harbour@2").startswith("da@1 of harbour (version 2): ")
    assert printed(capsys, "show", "--test-set", "harbour@2").startswith("da@1: ratings of harbour (version 2)")


def test_a_database_without_tables(tmp_path, ratings, capsys):
    assert main(["judgments", "list", "--database", f"sqlite:///{tmp_path}/none.db"]) == 1
    assert "Run `steelyard db upgrade`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("human.tsv", "human"), ("human.sys.tsv", "human"), ("human.seg.tsv.gz", "human"), ("human.mqm.tsv", "mqm"),
        ("human.mqm.v2.seg.tsv", "mqm.v2"), ("da.csv", "da"), ("ratings", "ratings"), ("sys.tsv", "sys"),
    ],
)  # fmt: skip
def test_judgments_are_called_after_their_file(file, name):
    assert judgments_name(file) == name


def test_the_command_knows_what_the_readers_know():
    """It says it without them, so that `steelyard --help` is quick."""
    assert KINDS == kinds.KINDS == tuple(JudgmentKind)
    assert SYSTEM_SCORES == reading_module.SYSTEM_SCORES


# In campaign folders


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    folder = tmp_path / "port"
    for path, text in {
        "refs/A.txt": "the red crane\nit lifts boxes\n",
        "systems/anna.txt": "the red crane\nit lifts a box\n",
        "systems/bert.txt": "a crane\nlifts boxes\n",
        "docs.tsv": "segment\tdoc_id\n0\td1\n1\td2\n",
        "human.seg.tsv": "system\tsegment\tscore\nanna\t0\t1\nbert\t0\t2\nanna\t1\t0.5\n",
        "human.sys.tsv": "system\tscore\nanna\t0.8\nbert\t2\nHUMAN-A\t3\nzoe\t1\n",
        "human.mqm.tsv": "system\tdoc_id\tseg_in_doc\trater\tcategory\tseverity\nbert\td2\t1\tr\tStyle\tMajor\n",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def evaluate(folder: Path, database: str) -> int:
    arguments = ["evaluate", str(folder), "-m", "per", "--confidence", "0", "--processes", "1"]
    return main([*arguments, "--database", database, "--output", str(folder / "report")])


def test_evaluate_takes_judgments_in(campaign, sqlite_url, monkeypatch, capsys):
    assert evaluate(campaign, sqlite_url) == 0
    err = capsys.readouterr().err
    assert "Human judgments human@1 of port: scores of 4 systems and 3 segments." in err
    assert "Human judgments mqm@1 of port: 1 judgment by 1 annotator, scores of 1 system and 1 segment." in err
    assert "not submitted under that name: zoe. Where" in err
    assert "the given scores of 1 system are not the means of their segments (anna)" in err
    monkeypatch.setenv("STEELYARD_DATABASE_URL", sqlite_url)
    assert [line.split()[2] for line in printed(capsys, "list").splitlines()[2:]] == ["human@1", "mqm@1"]
    assert "bert    -5.000" in printed(capsys, "show", "mqm")


def test_evaluate_leaves_judgments_of_other_systems_out(campaign, sqlite_url, monkeypatch, capsys):
    (campaign / "human.mqm.tsv").write_text("system\tscore\nyan\t1\n")
    assert evaluate(campaign, sqlite_url) == 0
    assert "Human judgments mqm were left out: None of the judged systems has a submission" in capsys.readouterr().err
    monkeypatch.setenv("STEELYARD_DATABASE_URL", sqlite_url)
    assert [line.split()[2] for line in printed(capsys, "list").splitlines()[2:]] == ["human@1"]


def test_bad_judgments_stop_a_campaign_before_anything_is_stored(campaign, sqlite_url, capsys):
    (campaign / "human.seg.tsv").write_text("system\tsegment\tscore\nanna\t7\t1\n")
    assert evaluate(campaign, sqlite_url) == 1
    assert "human.seg.tsv, line 2: segment 7 is not in the test set, which has 0 to 1" in capsys.readouterr().err
    from models.corpus.test_sets import list_test_sets

    with reading(make_engine(sqlite_url)) as connection:
        assert list_test_sets(connection) == []
