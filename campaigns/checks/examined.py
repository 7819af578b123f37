"""The lines that are looked at: those of an output beside those that it is held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from metrics.text.blocks import BLOCK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from campaigns.checks.standard import Standard
    from metrics.text.plain import Utf8

MOST_SEGMENTS = 50_000
MOST_BYTES = 8 << 20
"""Of larger outputs some blocks are looked at, evenly spread: what is wrong with a text is rarely in one place only."""
LONGEST = 2_000
"""Characters of a line that are looked at."""


@dataclass(frozen=True, eq=False)
class Examined:
    """Lines side by side."""

    lines: Sequence[str]
    """Of the output."""
    numbers: NDArray[np.int64]
    """The segment of each line, counted from 1; consecutive, but for gaps where not all is looked at."""
    sources: Sequence[str] | None
    references: Sequence[Sequence[str]]
    """None where they may not be seen."""
    source_language: str
    target_language: str
    segments: int
    """How many segments the test set has."""

    @property
    def partial(self) -> bool:
        """Whether only a part of the output is looked at."""
        return len(self.lines) < self.segments

    @property
    def meant(self) -> Sequence[str] | None:
        """What tells how many words a segment should have: the source, or else a reference."""
        return self.sources if self.sources is not None else next(iter(self.references), None)


def examine(output: Utf8, standard: Standard) -> Examined:
    """Lay an output beside what it is held against. Only a small one may have another number of lines."""
    chosen = _chosen(standard.segments, len(output))
    count = output.count(b"\n") + 1
    numbers = chosen + 1 if count == standard.segments else np.arange(1, count + 1)
    return Examined(
        lines=_lines(output, numbers - 1),
        numbers=numbers,
        sources=None if standard.source is None else _lines(standard.source, chosen),
        references=[_lines(text, chosen) for text in standard.references],
        source_language=standard.source_language,
        target_language=standard.target_language,
        segments=standard.segments,
    )


def _chosen(segments: int, size: int) -> NDArray[np.int64]:
    """Positions of the segments that are looked at."""
    whole = np.arange(segments)
    share = min(MOST_SEGMENTS / max(segments, 1), MOST_BYTES / max(size, 1))
    if share >= 1:
        return whole
    blocks = -(-segments // BLOCK)
    kept = np.unique(np.linspace(0, blocks - 1, max(1, int(blocks * share))).astype(np.int64))
    return whole[np.isin(whole // BLOCK, kept)]


def _lines(text: Utf8, chosen: NDArray[np.int64]) -> list[str]:
    every = text.split(b"\n")
    if len(chosen) == len(every):
        return [line[:LONGEST] for line in text.decode().split("\n")]
    # Cut before it is decoded: one line may be all of the text. A character has four bytes at most.
    return [every[place][: 4 * LONGEST].decode(errors="ignore")[:LONGEST] for place in chosen]
