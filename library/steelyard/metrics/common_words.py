"""Words that hypotheses share with references, counted once for all metrics that build on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.kernels.alignment.bag_overlap import bag_overlaps

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from steelyard.metrics.batch import Batch


def common_words(batch: Batch, tokenizer: str, case: str) -> NDArray[np.int64]:
    """Size of the multiset intersection: (references, systems, segments); -1 where the segment lacks a reference.

    Read-only: PER and F-measure share it.
    """

    def count() -> NDArray[np.int64]:
        found = bag_overlaps(batch.words(tokenizer, case), batch.present, len(batch.systems))
        found.flags.writeable = False
        return found

    return batch.once(("common words", tokenizer, case), count)
