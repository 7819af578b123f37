"""Judgments in a campaign's folder: which files belong together, and documents as the folder has them."""

from __future__ import annotations

from pathlib import Path

from steelyard.formats.campaign.folder import read_campaign
from steelyard.meta_evaluation.human.beside_texts import judgments_beside


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
