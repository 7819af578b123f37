"""`steelyard evaluate` on everything that holds a campaign, and what it refuses before anything is stored."""

import json
import sqlite3

import pytest

from tests.acceptance.commands import REPOSITORY, steelyard
from tests.metrics.text.test_campaigns import DATASET

HARBOUR = str(REPOSITORY / "demo" / "harbour")


def scores(document: list[dict] | dict) -> dict[tuple[str, str], dict]:
    """By system and metric, of a leaderboard or of what `score` prints."""
    return {
        (system["system"], score["metric"]): {key: score[key] for key in ("score", "interval")}
        for system in document["systems"]
        for score in system["scores"]
    }


def test_a_file_in_wmts_xml(tmp_path):
    (tmp_path / "wmt.xml").write_text(DATASET)
    arguments = ("-m", "chrf", "ter", "--confidence", "50")
    ended = steelyard("evaluate", "wmt.xml", "--test-suites", *arguments, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    (board,) = json.loads((tmp_path / "harbour2022.en-cs-report" / "leaderboard.json").read_text())
    assert (board["campaign"], board["references"]) == ("harbour2022.en-cs", ["A"])
    assert [system["system"] for system in board["systems"]] == ["tug"]
    with sqlite3.connect(tmp_path / "steelyard.db") as connection:
        documents = connection.execute("SELECT first_segment, segments, name, domain, test_suite FROM document")
        assert documents.fetchall() == [(0, 2, "quay", "news", ""), (2, 1, "idioms.1", "", "idioms")]
        languages = connection.execute("SELECT source_language, target_language, segments FROM test_set")
        assert languages.fetchall() == [("en", "cs", 3)]
    connection.close()
    ended = steelyard("evaluate", "wmt.xml", *arguments, cwd=tmp_path)
    assert "note: wmt.xml: 1 document of test suites left out." in ended.stderr
    scored = steelyard("score", "wmt.xml", "-i", "wmt.xml", *arguments, "-f", "json", cwd=tmp_path)
    (board,) = json.loads((tmp_path / "harbour2022.en-cs-report" / "leaderboard.json").read_text())
    assert scores(board) == scores(json.loads(scored.stdout))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((HARBOUR, "-m", "bleu", "sempos"), 'sempos needs the layer "sempos" (tectogrammatical nodes'),
        (("gone.xml",), "gone.xml: there is no such file"),
        ((HARBOUR, HARBOUR), "is a folder. Give one folder, or files"),
        ((HARBOUR, "-m", "bleu", "--resource", "vectors=gone.bin"), "gone.bin: cannot be read"),
    ],
)
def test_what_is_refused_before_anything_is_stored(tmp_path, arguments, message):
    ended = steelyard("evaluate", *arguments, cwd=tmp_path)
    assert ended.returncode == 1
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_files_of_resources_are_registered_where_workers_look(tmp_path):
    (tmp_path / "groups.txt").write_text("ship boat\n")
    arguments = ("-m", "wer", "--references", "A", "--confidence", "0", "--resource", "groups=groups.txt")
    refused = steelyard("evaluate", HARBOUR, *arguments, "-m", "sempos", cwd=tmp_path)
    assert refused.returncode == 1
    assert [path.name for path in tmp_path.iterdir()] == ["groups.txt"]
    ended = steelyard("evaluate", HARBOUR, *arguments, cwd=tmp_path, STEELYARD_RESOURCE_FOLDER="kept")
    assert ended.returncode == 0, ended.stderr
    entry = json.loads((tmp_path / "kept" / "groups.json").read_text())
    assert (tmp_path / "kept" / entry["digest"] / "groups.txt").read_text() == "ship boat\n"
