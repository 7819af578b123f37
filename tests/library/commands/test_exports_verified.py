"""Exports with scores that were made elsewhere, and exports that nobody exported so."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from steelyard.commands.main import main
from steelyard.commands.verification import export
from steelyard.commands.verification.export import verify_export
from steelyard.formats.campaign import exports
from steelyard.metrics.metric import EDITION
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.without_texts.imported import Imported
from tests.library.commands.test_verification import REFERENCE, exported, measured, table, verified

COMET = Imported(metric="COMET", ver="22", sha256="ab12")
GIVEN = {"1": [0.5, 0.75, float("nan")], "2": [0.25, 0.1, 0.3]}
STATISTICS = {name: COMET.statistics(np.array(scores), [0, 1, 2], 3) for name, scores in GIVEN.items()}


def imported_files(statistics=STATISTICS, columns=("submission", "segment", "statistics")):
    rows = [
        (name, place, " ".join(map(repr, row.tolist())))
        for name, found in statistics.items()
        for place, row in enumerate(found)
    ]
    return {
        "imported.tsv": table(("specification", "file"), (COMET.specification, "imported/1.tsv")),
        "imported/1.tsv": table(columns, *rows),
    }


def imported_scores(*changed):
    """Of the first two systems, as (submission, metric, score, signature)."""
    scores = [repr(float(COMET.score(STATISTICS[each].sum(axis=0)))) for each in GIVEN]
    rows = [(number, COMET.specification, score, COMET.signature(1, 0, 0)) for number, score in enumerate(scores, 1)]
    return [*rows, *changed]


def refused(capsys, path):
    assert main(["verify", path]) == 1
    return capsys.readouterr().err.removeprefix("steelyard: ").rstrip("\n")


def test_imported_scores_are_verified_by_their_statistics(tmp_path, capsys):
    found = verified(capsys, exported(tmp_path, imported_scores(), **imported_files()))
    assert found["verified"]
    assert [(each["metric"], each["verdict"], each["differences"]) for each in found["scores"]] == [
        ("COMET 22 (imported), A", "equal to the bit", [])
    ] * 2
    assert [each["recomputed"] for each in found["scores"]] == pytest.approx([0.625, 0.65 / 3], abs=1e-6)
    both = exported(tmp_path, [*imported_scores(), *measured("bleu", [REFERENCE])], **imported_files())
    assert [each["verdict"] for each in verified(capsys, both)["scores"]] == ["equal to the bit"] * 5


def test_imported_scores_that_are_others_than_their_statistics_say(tmp_path, capsys):
    other = {**STATISTICS, "2": STATISTICS["2"] * [[2.0, 1.0]]}
    found = verified(capsys, exported(tmp_path, imported_scores(), **imported_files(other)), status=1)
    assert [each["equal"] for each in found["scores"]] == [True, False]
    assert found["scores"][1]["verdict"] == "differs by +0.217"
    alone = exported(tmp_path, imported_scores(), **imported_files({"1": STATISTICS["1"]}))
    found = verified(capsys, alone, status=1)
    assert [each["recomputed"] for each in found["scores"]] == [0.625, None]
    undefined = (3, COMET.specification, "", COMET.signature(1, 0, 0))
    assert verified(capsys, exported(tmp_path, imported_scores(undefined), **imported_files()))["verified"]


def test_imported_scores_without_their_statistics_are_not_verified(tmp_path, capsys):
    told = "The export has no scores of COMET 22 (imported): only organisers get them."
    for files in ({}, {"imported.tsv": table(("specification", "file"))}):
        found = verified(capsys, exported(tmp_path, imported_scores(), **files), status=1)
        assert (found["problems"], found["scores"]) == ([told], [])


def test_a_rank_of_all_systems_is_no_score_to_verify(tmp_path, capsys):
    metric = parse_metric("autorank")
    path = exported(tmp_path, [*measured("ter", [REFERENCE]), (1, "autorank", "1.0", metric.signature(1, 0, 0))])
    found = verified(capsys, path)
    assert found["notes"] == [f"{metric.title} ranks all systems of a leaderboard: no score to verify."]
    assert len(found["scores"]) == 3


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("imported/1.tsv", table(("submission", "segment", "statistics"), (1, 0, "0.5 x")),
         "imported/1.tsv: the statistics '0.5 x' are not as others are. Export the campaign again."),
        ("imported/1.tsv", table(("submission", "segment", "statistics"), (1, 0, "0.5 1.0"), (1, 1, "0.5 1.0 2.0")),
         "imported/1.tsv: the statistics '0.5 1.0 2.0' are not as others are. Export the campaign again."),
        ("imported/1.tsv", table(("submission", "segment", "statistics"), (1, 0, "0.5"), (1, 1, "0.5")),
         f"imported.tsv: {COMET.specification} has 1 statistics, not 2. Export the campaign again."),
        ("imported/1.tsv", table(("submission", "segment"), (1, 0)),
         "imported/1.tsv has no column statistics. Export the campaign again."),
        ("imported.tsv", table(("specification", "file"), (COMET.specification, "imported/2.tsv")),
         "The zip lacks imported/2.tsv. Export the campaign again."),
        *((
            "scores.tsv",
            table(export.TABLES["scores.tsv"], (1, "A", COMET.specification, "0.625", *drawn, "", EDITION)),
            f"scores.tsv: {told}, not a whole number. Export the campaign again.",
        ) for drawn, told in ((("many", ""), "replicates is 'many'"), ((10, "1.5"), "seed is '1.5'"))),
    ],
)  # fmt: skip
def test_tables_that_were_not_exported_so_are_refused(tmp_path, capsys, name, content, told):
    path = exported(tmp_path, imported_scores(), **{**imported_files(), name: content})
    assert refused(capsys, path) == f"{path}: {told}"


def test_what_cannot_be_computed_here_is_a_problem_and_the_others_are_verified(tmp_path, capsys):
    (first, *_) = scores = measured("bleu", [REFERENCE])
    found = verified(capsys, exported(tmp_path, [*scores, (1, "nonsense", "1", first[3])]), status=1)
    assert [each["verdict"] for each in found["scores"]] == ["equal to the bit"] * 3
    (problem,) = found["problems"]
    assert problem.startswith('nonsense cannot be computed here: There is no metric "nonsense".')
    found = verified(capsys, exported(tmp_path, [*scores, (1, "bleu:order=x", "1", first[3])]), status=1)
    assert found["problems"][0].startswith('bleu:order=x cannot be computed here: bleu: order="x": ')


def test_a_score_without_its_output_or_its_test_set_is_a_problem(tmp_path, capsys):
    scores = measured("bleu", [REFERENCE])
    rows = [(number, "news", "team", f"s{number}", "", f"outputs/{number + 3}.txt") for number in (1, 2, 3)]
    without = {"submissions.tsv": table(export.TABLES["submissions.tsv"], *rows)}
    found = verified(capsys, exported(tmp_path, scores, **without), status=1)
    assert found["problems"] == [f"The export has no output of submission {number}." for number in (1, 2, 3)]
    assert found["scores"] == []
    rows = [(number, "talks", "team", f"s{number}", "", f"outputs/{number}.txt") for number in (1, 2, 3)]
    elsewhere = {"submissions.tsv": table(export.TABLES["submissions.tsv"], *rows)}
    found = verified(capsys, exported(tmp_path, scores, **elsewhere), status=1)
    assert (found["problems"], found["scores"]) == (["test-sets.tsv: there is no test set talks."], [])


def test_the_scores_of_one_submission(tmp_path):
    path = exported(tmp_path, [*measured("bleu", [REFERENCE]), *imported_scores()], **imported_files())
    found = verify_export(path, submission=2)
    assert [(each.system, each.metric) for each in found.verdicts] == [
        ("team/raft (2)", "COMET 22 (imported), A"), ("team/raft (2)", "BLEU, A"),
    ]  # fmt: skip
    assert found.problems == found.notes == []
    assert verify_export(path, submission=7).problems == [f"{path} has no scores of submission 7."]


@pytest.mark.parametrize(
    ("manifest", "kind"),
    [
        ("{", "JSONDecodeError"),
        ("[]", "TypeError"),
        ("{}", "KeyError"),
        ('{"export": "x", "release": "1", "files": {}}', "ValueError"),
        ('{"export": 1e999, "release": "1", "files": {}}', "OverflowError"),
        ('{"export": null, "release": "1", "files": {}}', "TypeError"),
        ('{"export": 1, "release": "1", "files": []}', "AttributeError"),
        ("[" * 300_000, "RecursionError"),
    ],
)
def test_a_manifest_that_cannot_be_read(tmp_path, capsys, manifest, kind):
    path = Path(exported(tmp_path, measured("bleu", [REFERENCE])))
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(other, "w") as written:
        for name in archive.namelist():
            written.writestr(name, manifest if name == exports.MANIFEST else archive.read(name))
    assert refused(capsys, str(other)) == f"{other}: manifest.json cannot be read ({kind}). Export the campaign again."


def test_an_export_has_its_texts_in_it(tmp_path, capsys):
    path = exported(tmp_path, measured("bleu", [REFERENCE]))
    text = tmp_path / "out.txt"
    text.write_text("one\n")
    for words in ((str(text),), ("-i", str(text)), ("--score", "3")):
        assert main(["verify", path, *words]) == 2
        told = "An exported campaign has its texts and scores in it: give the zip alone."
        assert capsys.readouterr().err.rstrip("\n").endswith(told)


def test_a_result_that_is_too_large_is_not_read(tmp_path, capsys, monkeypatch):
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"systems": []}))
    monkeypatch.setattr("steelyard.commands.verification.verify.LARGEST_RESULT", path.stat().st_size - 1)
    assert refused(capsys, str(path)) == f"{path} is larger than {path.stat().st_size - 1:,} bytes."


def test_files_with_ids_say_only_beside_others_what_they_are(tmp_path, capsys):
    (tmp_path / "out.jsonl").write_text('{"id": 1, "hypothesis": "a"}\n')
    (tmp_path / "ref.txt").write_text("a\n")
    assert main(["score", str(tmp_path / "ref.txt"), "-i", str(tmp_path / "ref.txt"), "-f", "json"]) == 0
    (tmp_path / "result.json").write_text(capsys.readouterr().out)
    assert main(["verify", str(tmp_path / "result.json"), str(tmp_path / "out.jsonl")]) == 1
    told = f"{tmp_path / 'out.jsonl'} has ids for its segments: give references first, and the systems after -i."
    assert told in capsys.readouterr().err
