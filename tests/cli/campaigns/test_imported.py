"""What `steelyard campaign import` prints of what came in, or would."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cli.main import main
from steelyard_client.commands.campaigns.imported import print_imported
from steelyard_client.documents.campaigns.campaign_imports import (
    CampaignImportedResponse,
    ImportedJudgments,
    ImportedScoresOfMetric,
    ImportedTestSet,
)
from tests.service.service import Service


def imported(*, stored: bool) -> CampaignImportedResponse:
    judged = ImportedJudgments(
        name="esa", segments=7, matched=["mast"], unknown=["hull"], references=["refA"], not_judged=["keel"]
    )
    scores = [ImportedScoresOfMetric(metric="X", version="1", level="segment", systems=2)]
    test_sets = [
        ImportedTestSet(
            test_set=name, pair=name, spelt=["eng-ces"] if name == "en-cs" else [], segments=1997, documents=0,
            domains=[], references=["refA", "refB"], systems=["mast", "keel"], missing=["hull\x1b[31m"],
            judgments=[judged] if name == "en-cs" else [], scores=scores,
        )
        for name in ("en-cs", "en-de")
    ]  # fmt: skip
    return CampaignImportedResponse(
        name="bay", stored=stored, test_sets=2, submissions=4, judgments=1, imported=1, by_test_set=test_sets,
        notices=["A line is left out."],
    )  # fmt: skip


@pytest.mark.parametrize("stored", [True, False])
def test_each_test_set_has_a_row_and_so_have_judgments(capsys: pytest.CaptureFixture[str], *, stored: bool) -> None:
    assert print_imported(imported(stored=stored)) == 0
    said = capsys.readouterr()
    assert ("Nothing is stored: this is what would be." in said.out) == (not stored)
    rows = [line.split() for line in said.out.splitlines()]
    (first,) = [row for row in rows if row[:2] == ["en-cs", "en-cs"]]
    assert first[2:] == ["eng-ces", "1,997", "0", "refA,", "refB", "2", "hull\\x1b[31m", "1", "1"]
    (judged,) = [row for row in rows if row[:2] == ["en-cs", "esa"]]
    assert judged[2:] == ["7", "1", "refA", "hull", "keel"]
    assert "bay: 2 test sets, 4 outputs, 1 file of human judgments, 1 imported metric." in said.out
    assert "A line is left out." in said.err


def test_several_files_come_in_as_one_campaign(
    capsys: pytest.CaptureFixture[str], service: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    ids = [f"{pair}_#_news_#_a" for pair in ("en-cs", "en-de")]
    files: dict[str, list[dict[str, Any]]] = {
        "bay.jsonl": [{"doc_id": each, "src_text": "One", "refs": {"refA": {"ref": "Jedna"}}} for each in ids],
        "mast.jsonl": [{"doc_id": each, "hypothesis": "Jedna"} for each in ids],
        "keel.jsonl": [{"doc_id": each, "hypothesis": "Dva"} for each in ids],
    }
    for name, rows in files.items():
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    next_step = "note: `steelyard up`, or the next command that brings workers to this database, scores the outputs"
    assert main(["campaign", "import", *files, "--preview"]) == 0
    assert next_step not in capsys.readouterr().err
    assert main(["campaign", "import", *files]) == 0
    said = capsys.readouterr()
    assert "bay: 2 test sets, 4 outputs" in said.out
    # A server has workers of its own.
    assert (next_step in said.err) == ("STEELYARD_SERVER" not in os.environ)
    assert main(["campaign", "import", "bay.jsonl", "--name", "bare"]) == 0
    said = capsys.readouterr()
    assert "bare: 2 test sets, 0 outputs" in said.out
    assert next_step not in said.err
