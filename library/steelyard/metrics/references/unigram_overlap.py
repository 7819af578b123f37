"""Words that hypotheses share with references, counted once for all metrics that build on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.kernels.alignment.bag_overlap import bag_overlaps

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from steelyard.metrics.segments import Segments


def unigram_overlap(segments: Segments, tokenizer: str, case: str) -> NDArray[np.int64]:
    """How many words hypothesis and reference share, as multisets. Read-only: PER and F-measure share it.

    Parameters
    ----------
    segments : Segments
    tokenizer : str
    case : str
        As of `Segments.words`.

    Returns
    -------
    (references, systems, segments) int64
        -1 where the segment lacks a reference.
    """

    def count() -> NDArray[np.int64]:
        found = bag_overlaps(segments.words(tokenizer, case), segments.reference_mask, len(segments.hypotheses))
        found.flags.writeable = False
        return found

    return segments.cached(("common words", tokenizer, case), count)
