"""What `steelyard campaign import` prints of what came in, or would."""

from __future__ import annotations

import pytest

from steelyard_client.commands.campaigns.imported import print_imported
from steelyard_client.documents.campaigns.campaign_imports import (
    CampaignImportedResponse,
    ImportedJudgments,
    ImportedScoresOfMetric,
    ImportedTestSet,
)


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
    assert "bay: 2 test sets, 4 outputs, 1 imports of human judgments, 1 imported metrics." in said.out
    assert "A line is left out." in said.err
