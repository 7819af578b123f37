"""Exports whose parts do not belong together, though their manifest knows them: refused with the place, by rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from campaigns.campaign_imports.reading import read_campaign_zip
from campaigns.errors import BadRequest
from steelyard.text.limits import STORING_LIMITS
from tests.campaigns.campaign_imports.zips import counted, exported, files_of, taken_in, zipped
from tests.campaigns.exports.exported import rows
from tests.service.service import Service

Row = dict[str, str]


def with_rows(files: dict[str, bytes], name: str, change: Callable[[list[Row]], list[Row]]) -> bytes:
    """The export with other rows in one of its tables."""
    target = io.StringIO()
    changed = change(list(rows(files, name)))
    table = csv.DictWriter(target, list(changed[0]), delimiter="\t", lineterminator="\n")
    table.writeheader()
    table.writerows(changed)
    return zipped({**files, name: target.getvalue().encode()}, honest=True)


def twice(found: list[Row]) -> list[Row]:
    return [*found, found[0]]


def every(**values: str) -> Callable[[list[Row]], list[Row]]:
    return lambda found: [{**row, **values} for row in found]


def two_primaries(found: list[Row]) -> list[Row]:
    """Two outputs of one team for one test set, both primary."""
    own = next(row for row in found if row["team"] == "harbour" and row["test_set"] == "news")
    return [{**own, "kind": "primary"}, {**own, "kind": "primary", "id": "90", "system": "keel"}]


def one_withdrawn(found: list[Row]) -> list[Row]:
    first, second = two_primaries(found)
    return [*(row for row in found if row["id"] != first["id"]), first, {**second, "withdrawn_at": "1700000000.5"}]


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("test-sets.tsv", twice, "test-sets.tsv: two test sets have one name and version."),
        ("submissions.tsv", twice, "submissions.tsv: two submissions have one number."),
        ("submissions.tsv", two_primaries, "submissions.tsv: harbour has two primary submissions for news."),
        ("imported.tsv", twice, "imported.tsv: XCOMET@1 is there twice."),
        ("imported.tsv", every(specification="chrf"), "imported.tsv: XCOMET@1 is no imported metric, but chrF2."),
        (
            "imported/1-XCOMET-1.tsv",
            every(submission="90"),
            "imported.tsv: XCOMET@1: there is no submission '90'.",
        ),
        ("test-sets.tsv", every(segments="4"), "news: A has 3 lines, not 4."),
    ],
)
def test_rows_that_contradict_each_other_are_refused(
    port: Service, tmp_path: Path, name: str, change: Callable[[list[Row]], list[Row]], says: str
) -> None:
    (tmp_path / "sent.zip").write_bytes(with_rows(files_of(exported(port, "port")), name, change))
    with pytest.raises(BadRequest) as refused:
        read_campaign_zip(tmp_path / "sent.zip", tmp_path, STORING_LIMITS)
    assert str(refused.value) == says


def test_a_primary_that_was_withdrawn_stands_beside_another_one(port: Service, tmp_path: Path) -> None:
    sent = with_rows(files_of(exported(port, "port")), "submissions.tsv", one_withdrawn)
    found = taken_in(port, sent, tmp_path)
    assert found.submissions == 9
    kept = [row for row in rows(files_of(exported(port, "copy")), "submissions.tsv") if row["kind"] == "primary"]
    assert {row["system"]: row["withdrawn_at"] for row in kept} == {"mast": "", "keel": "1700000000.5"}


def test_a_test_set_that_is_there_twice_or_of_an_unknown_phase_stores_nothing(port: Service, tmp_path: Path) -> None:
    files, before = files_of(exported(port, "port")), counted(port)

    def renamed(found: list[Row]) -> list[Row]:
        return [*found, {**found[0], "id": "90", "name": "tides", "replaced_by": ""}]

    newest = next(rows(files, "test-sets.tsv"))
    for change, says in (
        (renamed, f"The test set tides@{newest['version']} is there twice, with identical content."),
        (every(phase="dusk"), f"The test set news@{newest['version']} belongs to a phase 'dusk' that there is not."),
    ):
        with pytest.raises(BadRequest) as refused:
            taken_in(port, with_rows(files, "test-sets.tsv", change), tmp_path)
        assert str(refused.value) == says
    assert counted(port) == before


def test_a_test_set_without_documents_has_none_afterwards(port: Service, tmp_path: Path) -> None:
    files = files_of(exported(port, "port"))
    without = {name: content for name, content in files.items() if not name.endswith("docs.tsv")}
    taken_in(port, zipped(without, honest=True), tmp_path)
    copied = files_of(exported(port, "copy"))
    assert len(list(rows(copied, "test-sets.tsv"))) == 3
    assert not [name for name in copied if name.endswith("docs.tsv")]


def test_imported_scores_of_no_system_are_a_column_without_scores(port: Service, tmp_path: Path) -> None:
    files = files_of(exported(port, "port"))
    name = "imported/1-XCOMET-1.tsv"
    header = files[name].splitlines(keepends=True)[0]
    found = taken_in(port, zipped({**files, name: header}, honest=True), tmp_path)
    assert found.imported == 1
    copied = files_of(exported(port, "copy"))
    (column,) = rows(copied, "imported.tsv")
    assert (column["test_set"], column["name"], column["version"]) == ("news@2", "XCOMET", "1")
    assert copied[column["file"]] == header
    of_column = [row["score"] for row in rows(copied, "scores.tsv") if row["metric"].startswith("imported:")]
    assert not any(of_column)
