"""`steelyard judgments tasks`: tasks for annotation tools, and their way back, by database and server."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from tests.cli.campaigns.commands import steelyard
from tests.service.service import Service

OUTPUTS = {
    "mast": b"one big ship\ntwo small ships\nthree old ports\na fourth quay",
    "Cohere CAT+": b"a big boat\nsome small boats\nthe old harbours\nquay number four",
}
DOCUMENTS = [("a doc", "news", ""), ("b", "", ""), ("a doc", "news", ""), ("a doc", "news", "")]


@pytest.fixture
def judged(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two test sets, one of them without documents; a document in two pieces."""
    monkeypatch.chdir(tmp_path)
    service.campaign("wmt")
    for name, documents in (("en-cs", DOCUMENTS), ("plain", ())):
        ingest_campaign(
            service.engine,
            service.settings,
            campaign="wmt",
            test_set=NewTestSet(
                *(name, {"A": b"jedna\ndva\ntri\nctyri"}),
                source=b"i\nii\niii\niv",
                source_language="en",
                target_language="cs",
                documents=documents,
            ),
            submissions=[NewSubmission(system, output) for system, output in OUTPUTS.items()],
            protocols=[NewProtocol(["A"], [parse_metric("chrf")], 0)],
        )
    return tmp_path


def score(system: str, segment: int) -> float:
    return 10.0 * segment + (5 if system == "mast" else 0)


def scores_of(capsys: pytest.CaptureFixture[str], test_set: str) -> dict[tuple[str, int], float]:
    rows = json.loads(
        steelyard(capsys, "judgments", "show", "esa", "--test-set", test_set, "--granularity", "segment", "-f", "json")
    )
    found = rows["segments"] if isinstance(rows, dict) else rows
    return {(row["system"], row["segment"]): row["raw"] for row in found}


EXPECTED = {(system, segment): score(system, segment) for system in OUTPUTS for segment in range(4)}


def test_tasks_for_appraise_and_back(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = steelyard(capsys, "judgments", "tasks", "wmt", "--for", "appraise", "-o", "tasks", "--seed", "3")
    assert printed == "Written: tasks\n"
    assert {path.name for path in (judged / "tasks").iterdir()} == {
        *("en-cs.manifest.json", "en-cs.batches.json", "plain.manifest.json", "plain.batches.json", "names.json"),
    }
    manifest = json.loads((judged / "tasks" / "en-cs.manifest.json").read_text())
    assert (manifest["TASK_OPTIONS"], manifest["TASKS_TO_ANNOTATORS"][0][:2]) == ("ESA", ["eng", "ces"])
    for test_set in ("en-cs", "plain"):
        batches = json.loads((judged / "tasks" / f"{test_set}.batches.json").read_text())
        assert all(len(batch["items"]) == 100 for batch in batches)
        with (judged / f"{test_set}.csv").open("w", newline="") as file:
            for batch in batches:
                for item in batch["items"]:
                    own = item["itemID"] if item["itemID"] < 1_000_000 else 0
                    given = score(item["targetID"], own)
                    kind = item["itemType"]
                    row = [f"user{batch['task']['batchNo']}", item["targetID"], item["itemID"], kind, "eng", "ces"]
                    row += [given, item["documentID"], "False", "[]", 1.0, 2.0]
                    csv.writer(file).writerow(row)
        steelyard(
            *(capsys, "judgments", "import", f"{test_set}.csv", "--test-set", test_set, "--name", "esa"),
            "--no-standardise",
        )
        assert scores_of(capsys, test_set) == EXPECTED


@pytest.mark.parametrize("assignment", ["dynamic", "task-based"])
def test_tasks_for_pearmut_and_back(judged: Path, capsys: pytest.CaptureFixture[str], assignment: str) -> None:
    words = ("--assignment", assignment, "--annotators", "2", "--checks", "1", "--protocol", "cesa", "--together", "2")
    steelyard(capsys, "judgments", "tasks", "wmt", "--for", "pearmut", "-o", "tasks", *words)
    for test_set in ("en-cs", "plain"):
        campaign = json.loads((judged / "tasks" / f"{test_set}.json").read_text())
        assert campaign["campaign_id"] == f"en---cs wmt {test_set}"
        assert (campaign["info"]["protocol"], campaign["info"]["assignment"]) == ("cESA", assignment)
        assert len(campaign["data_random"]) == 1
        sources = ["i", "ii", "iii", "iv"]
        tasks = campaign["data"] if assignment == "task-based" else [campaign["data"]]
        lines = [
            {
                "user_id": f"u{user}",
                "item_i": number,
                "item": document,
                "actions": [],
                "annotation": [
                    {
                        model: {"score": score(model, sources.index(item["src"])), "error_spans": []}
                        for model in item["tgt"]
                    }
                    for item in document
                ],
            }
            for user, task in enumerate([*tasks, campaign["data_random"]])
            for number, document in enumerate(task)
        ]
        (judged / f"{test_set}.export.json").write_text(json.dumps({campaign["campaign_id"]: lines}))
        steelyard(
            *(capsys, "judgments", "import", f"{test_set}.export.json", "--test-set", test_set, "--name", "esa"),
            "--no-standardise",
        )
        assert scores_of(capsys, test_set) == EXPECTED


def test_what_is_chosen_and_what_is_refused(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = ("judgments", "tasks", "wmt", "--for", "pearmut", "-o")
    steelyard(capsys, *tasks, "one", "--test-set", "plain", "--systems", "mast", "--references")
    campaign = json.loads((judged / "one" / "plain.json").read_text())
    assert set(campaign["data"][0][0]["tgt"]) == {"mast", "refA"}
    assert not (judged / "one" / "en-cs.json").exists()
    steelyard(capsys, *tasks, "two", "--test-set", "plain", "--systems", "mast", "--references")
    assert (judged / "one" / "plain.json").read_bytes() == (judged / "two" / "plain.json").read_bytes()
    for words, told in (
        (("--systems", "keel"), "There is no output of 'keel'"),
        (("--test-set", "en-de"), "en-de"),
        (("--assignment", "task-based", "--annotators", "99"), "nothing to do"),
    ):
        assert told in steelyard(capsys, *tasks, "three", *words, status=1)
        assert not (judged / "three").exists(), "nothing is written"
    asked = ("judgments", "tasks", "wmt", "--for", "appraise", "--protocol", "da", "--tutorial", "-o", "three")
    assert "no tutorials by DA" in steelyard(capsys, *asked, status=1)
    assert not (judged / "three").exists()
    item = {"source": "A ship.", "target": "Loď.", "explanation": "Right.", "score": 100}
    (judged / "own.json").write_text(json.dumps([[item]]))
    steelyard(capsys, *tasks, "own", "--tutorial-file", "own.json")
    ((welcome,),) = json.loads((judged / "own" / "plain.json").read_text())["data_welcome"]
    assert (welcome["src"], welcome["tgt"]) == ("A ship.", {"tutorial": "Loď."})
    (judged / "own.json").write_text(json.dumps([[{**item, "score": "high"}]]))
    said = steelyard(capsys, *tasks, "three", "--tutorial-file", "own.json", status=1)
    assert "own.json: Page 1, item 1: score must be a whole number from 0 to 100." in said
    assert "not an empty folder" in steelyard(capsys, *tasks, "one", status=1)
