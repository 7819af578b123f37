"""Metrics that share a title are distinguished by what only some of them have."""

from __future__ import annotations

import pytest

from steelyard.metrics.registry import parse_metric
from steelyard.tables.titles import distinct_titles


@pytest.mark.parametrize(
    ("specifications", "titles"),
    [
        (["bleu"], ["BLEU"]),
        (["bleu:tok=zh", "chrf", "ter"], ["BLEU", "chrF2", "TER"]),
        (["bleu", "bleu:tok=zh"], ["BLEU", "BLEU (tok=zh)"]),
        (["bleu:tok=char", "chrf", "bleu:tok=zh"], ["BLEU (tok=char)", "chrF2", "BLEU (tok=zh)"]),
        (["bleu:case=lc:tok=zh", "bleu:tok=zh"], ["BLEU (case=lc)", "BLEU"]),
        (
            ["bleu", "bleu:tok=zh", "bleu:tok=zh:smooth=floor[0.10]"],
            ["BLEU", "BLEU (tok=zh)", "BLEU (tok=zh, smooth=floor[0.10])"],
        ),
        (["chrf", "chrf:nw=2", "chrf:beta=3", "chrf:nc=4"], ["chrF2", "chrF2++", "chrF3", "chrF2 (nc=4)"]),
        (["ter", "ter:case=mixed", "ter:norm=yes"], ["TER", "TER (case=mixed)", "TER (norm=yes)"]),
        (["bleu:order=1", "bleu:order=1:tok=zh"], ["BLEU[1]", "BLEU[1] (tok=zh)"]),
    ],
)
def test_the_shortest_difference(specifications: list[str], titles: list[str]) -> None:
    metrics = [parse_metric(each) for each in specifications]
    assert distinct_titles([each.title for each in metrics], [each.specification for each in metrics]) == titles


def test_metrics_of_other_names_that_share_a_title() -> None:
    assert distinct_titles(["X", "X", "Y"], ["one", "two:a=b", "one"]) == ["X (one)", "X (two, a=b)", "Y"]
    assert distinct_titles([], []) == []
