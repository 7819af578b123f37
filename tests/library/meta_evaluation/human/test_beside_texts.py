"""Judgments in a campaign's folder: which files belong together, and documents as the folder has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.formats.campaign.folder import read_campaign
from steelyard.meta_evaluation.human.beside_texts import judgments_beside, judgments_name
from steelyard.meta_evaluation.human.table import BadTable


def test_segments_may_be_named_by_their_documents(tmp_path: Path) -> None:
    """By the folder's own list; files of one name are one set of judgments."""
    files = {
        "refs/A.txt": "a\nb\nc\n", "systems/tug.txt": "a\nb\nc\n", "systems/raft.txt": "a\nb\nd\n",
        "docs.tsv": "segment\tdoc_id\n0\tquay\n1\tdeck\n2\tdeck\n",
        "human.esa.seg.tsv": "system\tdoc_id\tseg_in_doc\tscore\ntug\tdeck\t2\t70\nraft\tquay\t1\t40\n",
        "human.esa.sys.tsv": "system\tscore\ntug\t0.5\nraft\t0.25\n",
        "human.sys.tsv": "system\tscore\ntug\t9\n",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / "bay" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "bay" / name).write_text(text)
    found = judgments_beside(read_campaign(tmp_path / "bay"))
    assert {name: {row.system: row.score for row in each.systems} for name, each in found.items()} == {
        "esa": {"tug": 0.5, "raft": 0.25},
        "human": {"tug": 9.0},
    }
    assert sorted((row.system, row.segment) for row in found["esa"].segments) == [("raft", 0), ("tug", 2)]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("human.sys.tsv", "human"),
        ("human.mqm.seg.tsv", "mqm"),
        ("da.csv.gz", "da"),
        ("seg", "seg"),
        ("x" * 100, "x" * 100),
    ],
)
def test_judgments_are_named_after_their_file(file: str, name: str) -> None:
    assert judgments_name(file) == name


@pytest.mark.parametrize(("file", "name"), [("esa@2.tsv", "esa@2"), ("x" * 101 + ".csv", "x" * 101), ("", "")])
def test_a_file_that_judgments_cannot_be_named_after(file: str, name: str) -> None:
    with pytest.raises(BadTable) as raised:
        judgments_name(file)
    assert str(raised.value) == f"{file!r}: judgments cannot be called {name!r}: 1 to 100 characters, without @."
