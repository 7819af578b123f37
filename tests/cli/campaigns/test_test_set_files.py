"""A test set that is read here, as the files that a server gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard_client.commands.campaigns.test_set_files import read_test_set


@pytest.fixture
def news(tmp_path: Path) -> Path:
    """A folder with a source and a reference."""
    folder = tmp_path / "news"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "A.txt").write_text("jeden\ndva\n")
    (folder / "source.txt").write_text("one\ntwo")
    return folder


def test_texts_are_sent_with_a_line_end_and_nothing_is_made_up(news: Path) -> None:
    found = read_test_set([str(news)], None, "news")
    assert (found.references, found.source, found.documents) == ({"A.txt": b"jeden\ndva\n"}, b"one\ntwo\n", None)
    (news / "source.txt").unlink()
    assert read_test_set([str(news)], None, "news").source is None


def test_a_text_of_one_empty_line_is_one(news: Path) -> None:
    """An empty file would have no segment."""
    (news / "refs" / "A.txt").write_text("\n")
    (news / "source.txt").write_text("one\n")
    assert read_test_set([str(news)], None, "news").references == {"A.txt": b"\n"}


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        (
            "segment\tdoc_id\tdomain\n0\ta\tnews\n1\tb\tspeech\n",
            "segment\tdoc_id\tdomain\ttest_suite\n0\ta\tnews\t\n1\tb\tspeech\t\n",
        ),
        (
            "segment\tdoc_id\tsegment_id\n0\ta\tx1\n1\tb\tx2\n",
            "segment\tdoc_id\tdomain\ttest_suite\tsegment_id\n0\ta\t\t\tx1\n1\tb\t\t\tx2\n",
        ),
    ],
)
def test_documents_are_sent_as_a_table(news: Path, given: str, sent: str) -> None:
    (news / "docs.tsv").write_text(given)
    documents = read_test_set([str(news)], None, "news").documents
    assert documents is not None
    assert documents.decode() == sent
    # What is sent is read as what was given.
    (news / "docs.tsv").write_bytes(documents)
    assert read_test_set([str(news)], None, "news").documents == documents


def test_outputs_in_the_folder_are_not_sent_and_that_is_said(news: Path) -> None:
    ignored = "System outputs in the folder are ignored; submit them with `steelyard submit`."
    assert ignored not in read_test_set([str(news)], None, "news").notices
    (news / "systems").mkdir()
    (news / "systems" / "mast.txt").write_text("jedna\ndva\n")
    assert ignored in read_test_set([str(news)], None, "news").notices
