"""The lines to check: those of an output beside the source and references."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.text.blocks import BLOCK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steelyard.checks.context import CheckContext
    from steelyard.formats.plain import Utf8

MAX_SEGMENTS = 50_000
MAX_BYTES = 8 << 20
"""Of larger outputs some evenly spread blocks are checked: errors are rarely in one place only."""
MAX_LINE_LENGTH = 2_000
"""Characters of a line that are checked."""


@dataclass(frozen=True, eq=False)
class AlignedOutput:
    """An output aligned with source and references, line by line."""

    lines: Sequence[str]
    """Of the output."""
    numbers: NDArray[np.int64]
    """The segment of each line, from 1; consecutive, except for gaps if only a part is checked."""
    sources: Sequence[str] | None
    references: Sequence[Sequence[str]]
    """Empty if they are not visible."""
    source_language: str
    target_language: str
    segments: int
    """Number of segments of the test set."""

    @property
    def meant(self) -> Sequence[str] | None:
        """A text to compare each segment with: the source, or else a reference."""
        return self.sources if self.sources is not None else next(iter(self.references), None)


def align_output(output: Utf8, standard: CheckContext) -> AlignedOutput:
    """Align an output with source and references.

    Parameters
    ----------
    output : bytes
        UTF-8 lines joined by newlines. Only a small output may have another number of lines than the test set.
    standard : CheckContext

    Returns
    -------
    AlignedOutput
    """
    chosen = _chosen(standard.segments, len(output))
    count = output.count(b"\n") + 1
    numbers = chosen + 1 if count == standard.segments else np.arange(1, count + 1)
    return AlignedOutput(
        lines=_lines(output, numbers - 1),
        numbers=numbers,
        sources=None if standard.source is None else _lines(standard.source, chosen),
        references=[_lines(text, chosen) for text in standard.references],
        source_language=standard.source_language,
        target_language=standard.target_language,
        segments=standard.segments,
    )


def _chosen(segments: int, size: int) -> NDArray[np.int64]:
    """Return the positions of the segments to check."""
    whole = np.arange(segments)
    share = min(MAX_SEGMENTS / max(segments, 1), MAX_BYTES / max(size, 1))
    if share >= 1:
        return whole
    blocks = -(-segments // BLOCK)
    kept = np.unique(np.linspace(0, blocks - 1, max(1, int(blocks * share))).astype(np.int64))
    return whole[np.isin(whole // BLOCK, kept)]


def _lines(text: Utf8, chosen: NDArray[np.int64]) -> list[str]:
    every = text.split(b"\n")
    if len(chosen) == len(every):
        return [line[:MAX_LINE_LENGTH] for line in text.decode().split("\n")]
    # Cut before decoding: one line may be the whole text. A character has at most four bytes.
    return [every[place][: 4 * MAX_LINE_LENGTH].decode(errors="ignore")[:MAX_LINE_LENGTH] for place in chosen]
