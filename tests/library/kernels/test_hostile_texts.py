"""Texts made to do harm go through every kernel, and a system's numbers do not depend on what stands beside it.

`make sanitize` runs this where the first read or write out of bounds ends it.
"""

import numpy as np
import pytest

from steelyard.metrics.registry import all_metrics, parse_metrics
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.growth.families import FAMILIES
from tests.library.kernels.called import NAMES

TOKENIZED = ["bleu:tok=intl:case=lc", "bleu:tok=zh", "bleu:tok=char", "ter:norm=yes:asian=yes:punct=no"]
SIZES = (64, 300, 1000)
"""Code points of the segments: by masks, beyond them, and beyond blocks of 256 bytes."""


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Resources:
    folder, files = tmp_path_factory.mktemp("resources"), {}
    for metric in all_metrics():
        files |= metric.example_resources(folder, ["a", "ab", "w1"])
    return Resources(files=files)


def lines(family: str) -> list[bytes]:
    texts = [FAMILIES[family](size).replace("\n", " ").encode(errors="replace") for size in SIZES]
    return [*texts, b"", b"a ab w1 " + texts[0], texts[1][::-1].decode(errors="ignore").encode()]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_system_alone_gets_the_same_numbers(family: str, resources: Resources) -> None:
    metrics, _ = resolve(parse_metrics([*NAMES, *TOKENIZED]), RunContext("en", frozenset(), resources))
    own = lines(family)
    references = [own, [*own[1:], own[0]]]
    systems = [[*own[2:], *own[:2]], own, [b"a ab w1 \xc2\xa0."] * len(own)]

    def scored(chosen: list[list[bytes]]) -> list[list[bytes]]:
        """By metric, of each system its sums, to the bit."""
        texts = [[b"\n".join(text) for text in side] for side in (references, chosen)]
        segments = Segments(references=texts[0], hypotheses=texts[1])
        found = score_systems(segments, metrics, replicates=3, segment_scores=True, resources=resources)
        assert all(np.isfinite(each.sums).all() for each in found)
        return [[sums.tobytes() for sums in each.sums] for each in found]

    together = scored(systems)
    for place, system in enumerate(systems):
        assert [each[place] for each in together] == [each[0] for each in scored([system])]
