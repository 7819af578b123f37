"""Uploaded files of scores, as the sandbox reads them."""

from __future__ import annotations

import json

import pytest

from campaigns.errors import BadRequest
from campaigns.score_imports.reading import read_score_files
from steelyard.text.limits import TextLimits


def test_a_line_of_json_may_be_longer_than_a_segment_of_text() -> None:
    segments = [{"src": "x", "mt": "y" * 50, "COMET": 0.5}] * 100
    content = json.dumps({"out/ant.txt": segments}).encode()
    (found,) = read_score_files([("comet.json", content)], (), TextLimits(segment_characters=1_000))
    assert [(each.name, each.level) for each in found.tables] == [("COMET", "segment")]


def test_the_folder_of_a_file_names_the_pair() -> None:
    files = [(f"scores/{pair}/X.seg.score", f"ant {score}\n".encode()) for pair, score in (("en-cs", 1), ("en-de", 2))]
    found = read_score_files(files, (), TextLimits())
    assert [(each.pair, each.unpacked().metrics[0].scores.tolist()) for each in found] == [
        ("en-cs", [[1.0]]),
        ("en-de", [[2.0]]),
    ]
    windows = read_score_files([("..\\\\..\\\\en-fr\\\\X.seg.score", b"ant 3\n")], (), TextLimits())
    assert [each.pair for each in windows] == ["en-fr"]
    with pytest.raises(BadRequest, match="Send each once"):
        read_score_files([files[0], files[0]], (), TextLimits())
    with pytest.raises(BadRequest) as refused:
        read_score_files([("en-cs/X.seg.score", b"ant x\n")], (), TextLimits())
    assert "/tmp" not in str(refused.value)


@pytest.mark.parametrize("names", [("a", "a"), ("a", "a/x"), ("a/x", "a"), ("a/x", "b/a/x"), ("../a", "a/x")])
def test_files_that_do_not_fit_beside_each_other_are_refused(names: tuple[str, str]) -> None:
    with pytest.raises(BadRequest, match=f"are called '{names[1]}'"):
        read_score_files([(name, b"ant 1\n") for name in names], (), TextLimits())
