"""How many words of a translation begin like the word at the same place of the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from steelyard.metrics.metric import Metric
from steelyard.metrics.parameters import case_parameter, parameter, whole_number_to

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.metrics.segments import Segments


@dataclass(frozen=True)
class PrefixRate(Metric):
    """Words that begin like the reference's word at the same place, per word of the longer side.

    Of several references the one with the most such words counts, the shorter on ties.
    """

    name: ClassVar[str] = "prefix"
    source: ClassVar[str] = "made up for this example"
    cost: ClassVar[float] = 20.0
    examples: ClassVar[tuple[str, ...]] = ("", "letters=1:case=lc")

    case: str = case_parameter()
    letters: int = parameter(3, "letters to compare", parse=whole_number_to(100), show=str, ours=True)

    @property
    def columns(self) -> tuple[str, ...]:
        """Words that begin alike, and words of the longer side."""
        return ("alike", "longer")

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 2): whole numbers, so that sums are exact."""
        rows = [self._prefixes(text) for text in (*segments.references, *segments.hypotheses)]
        references, systems = rows[: len(segments.references)], rows[len(segments.references) :]
        statistics = np.zeros((len(systems), len(segments), 2))
        for number, system in enumerate(systems):
            for segment, words in enumerate(system):
                # Each segment by itself, and only against the references that it has.
                present = [references[number] for number in np.flatnonzero(segments.reference_mask[:, segment])]
                found = [alike(words, texts[segment]) for texts in present]
                statistics[number, segment] = max(found, key=lambda pair: (pair[0], -pair[1]))
        return statistics

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """0 to 100; undefined where there are no words. Works on rows of sums of any shape."""
        alike, longer = sums[..., 0], sums[..., 1]
        return np.where(longer > 0, 100.0 * alike / np.maximum(longer, 1.0), np.nan)

    def _prefixes(self, text: bytes) -> list[list[str]]:
        whole = text.decode()
        lines = (whole.lower() if self.case == "lc" else whole).split("\n")
        return [[word[: self.letters] for word in line.split()] for line in lines]


def alike(hypothesis: list[str], reference: list[str]) -> tuple[int, int]:
    """Places where both have the same, and the length of the longer one."""
    same = sum(one == other for one, other in zip(hypothesis, reference, strict=False))
    return same, max(len(hypothesis), len(reference))
