"""Layers from files to statistics: reading, cutting, counting and aligning."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from benchmarks.overhead import resolved
from benchmarks.single_layers.limits import Layer, Limit, fastest
from steelyard.formats.plain import read_lines
from steelyard.metrics.needed_statistics import states_of
from steelyard.metrics.segments import Segments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.harness.campaign import Campaign
    from steelyard.metrics.metric import Metric


PACE = "distances"
"""A limit that is a layer: TER has at least an edit distance to find, as WER has."""


def pace(layers: Sequence[Layer]) -> Limit:
    """Edit distances without any shift."""
    wer = next(layer for layer in layers if layer.name == "wer: statistics")
    return Limit("words compared by wer", wer.amount / wer.seconds, "")


def _statistics(texts: Sequence[bytes], metric: Metric, tokenizer: str, case: str) -> float:
    """CPU seconds of the statistics alone, in slices as a shard works on them, from prepared tokens if it takes any."""
    best = float("inf")
    states = states_of([metric], Segments(references=texts[:1], hypotheses=[]))
    for _ in range(5):
        spent = 0.0
        for piece in Segments(references=texts[:1], hypotheses=texts[1:], states=states).slices():
            if tokenizer:
                piece.words(tokenizer, case)
            start = time.process_time()
            metric.segment_statistics(piece)
            spent += time.process_time() - start
        best = min(best, spent)
    return best


def _prepared(texts: Sequence[bytes], prepare: Callable[[Segments], object]) -> float:
    return fastest(lambda: [prepare(piece) for piece in Segments(references=texts[:1], hypotheses=texts[1:]).slices()])


def text_layers(campaign: Campaign) -> list[Layer]:
    """From files to the statistics of the metrics that have the most users."""
    paths = [campaign.reference, *campaign.systems]
    texts = [read_lines(path).bytes for path in paths]
    size = sum(map(len, texts))
    whole = Segments(references=texts[:1], hypotheses=texts[1:])
    words = int(whole.words("13a", "mixed").starts[-1] - whole.words("13a", "mixed").starts[len(whole)])
    plain = int(whole.words("none", "mixed").starts[-1] - whole.words("none", "mixed").starts[len(whole)])
    letters = sum(len("".join(text.decode().split())) for text in texts[1:])
    layers = [
        Layer("reading", fastest(lambda: [read_lines(path) for path in paths]), size, "B", "scan", "bytes"),
        *(
            Layer(
                f"tokens, {name}",
                _prepared(texts, lambda piece, given=given: piece.words(*given)),
                size, "B", "scan", "bytes",
            )
            for name, given in {"13a": ("13a", "mixed"), "none": ("none", "mixed"), "TER's": ("none", "lc")}.items()
        ),
    ]  # fmt: skip
    for name, tokenizer, case, amount, what in (
        ("bleu", "13a", "mixed", 4 * words, "n-grams"),
        ("nist", "13a", "mixed", 5 * words, "n-grams"),
        ("chrf", "", "mixed", 6 * letters, "n-grams"),
        ("ter", "none", "lc", plain, "words"),
        ("wer", "13a", "mixed", words, "words"),
        ("meteor:modules=exact", "13a", "mixed", words, "words"),
        ("gtm", "13a", "mixed", words, "words"),
        ("tbleu", "13a", "mixed", 0, ""),
        ("lebleu", "13a", "mixed", 0, ""),
        ("character", "13a", "mixed", 0, ""),
    ):
        (metric,) = resolved(campaign, [name])
        seconds = _statistics(texts, metric, tokenizer, case)
        limit = PACE if metric.name == "ter" else "look-ups"
        layers.append(Layer(f"{metric.name}: statistics", seconds, amount, "", limit, what))
    return layers
