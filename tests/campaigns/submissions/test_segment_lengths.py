"""Segments that would keep a worker for long are refused where they are submitted."""

import pytest

from campaigns.submissions.segment_lengths import check_segments
from steelyard.formats.plain import Text, read_lines
from steelyard.metrics.registry import parse_metric
from steelyard.text.limits import OverLimit

SECONDS = 0.2


def text(characters: int, letter: str = "a") -> Text:
    return read_lines(f"short\n{letter * characters}\nshort\n".encode(), name="out.txt")


@pytest.mark.parametrize(
    "metric", ["wer", "tbleu", "lebleu", "bleu_modif:vectors=v", "wer_modif:vectors=v", "character"]
)
@pytest.mark.parametrize("letter", ["a", "中"])
def test_the_longest_segment_follows_the_exponent(metric: str, letter: str) -> None:
    most = int(parse_metric(metric).longest(SECONDS))
    assert parse_metric(metric).seconds(most) <= SECONDS < parse_metric(metric).seconds(most + 1)
    check_segments(text(most, letter), ["bleu", "chrf", metric], SECONDS)
    with pytest.raises(
        OverLimit, match=rf"^out.txt, line 2: {most + 1:,} characters in one segment. The maximum for .* is {most:,}\."
    ):
        check_segments(text(most + 1, letter), ["bleu", "chrf", metric], SECONDS)


@pytest.mark.parametrize(
    "metrics",
    [
        ["bleu", "chrf", "ter"],
        ["of-another-distribution"],
        [],
        # Paragraphs are longer than what a tenth of a second a segment would allow.
        ["comet:model=some"],
        ["bertscore:model=some"],
        ["program:run=judge"],
    ],
)
def test_others_take_what_readers_take(metrics: list[str]) -> None:
    check_segments(text(999_999), metrics, SECONDS)
