"""Uploaded files of scores, as the sandbox reads them."""

from __future__ import annotations

import json

from campaigns.imported.reading import read_score_files
from steelyard.text.limits import TextLimits


def test_a_line_of_json_may_be_longer_than_a_segment_of_text() -> None:
    segments = [{"src": "x", "mt": "y" * 50, "COMET": 0.5}] * 100
    content = json.dumps({"out/ant.txt": segments}).encode()
    (found,) = read_score_files([("comet.json", content)], (), TextLimits(segment_characters=1_000))
    assert [(each.name, each.level) for each in found.tables] == [("COMET", "segment")]
