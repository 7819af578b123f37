"""Links between the words of hypotheses and references, as Meteor draws them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Keys:
    """What one module compares: words with equal keys may be linked, those with a key below 0 never."""

    of_words: NDArray[np.int32]
    """By word of the whole segments."""
    sets: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None
    """(starts, groups), where keys are sets of groups: set k is `groups[starts[k]:starts[k + 1]]`, and words whose
    sets have a group in common may be linked. At most one module of a list has this, and its keys are 0 or more."""


@dataclass(frozen=True, eq=False)
class Links:
    """What `links` finds."""

    counts: NDArray[np.int64]
    """(references, systems, segments, modules + 2): links of each module, chunks, and 1 where the search was cut
    short. Undefined where the segment lacks the reference."""
    partners: NDArray[np.int32]
    """(references, words of all hypotheses): the place of the linked word in its segment, or -1."""


def links(
    starts: NDArray[np.int64], present: NDArray[np.uint8], systems: int, modules: Sequence[Keys], steps: int
) -> Links:
    """Link the words of all hypotheses with those of each reference, module by module.

    Each module links words that are still free: as many as possible, of such linkings one with the fewest crosses
    among all links drawn so far, and of those one with the fewest chunks. `starts` is that of `Words`, `present` is
    (references, segments). A module that would take more than `steps` steps keeps the best linking that it found.

    Parameters
    ----------
    starts : ndarray of int64
    present : ndarray of uint8
    systems : int
    modules : sequence of Keys
    steps : int

    Returns
    -------
    Links
    """
    references, segments = present.shape
    total = int(starts[-1])
    keys = np.stack([module.of_words for module in modules]).astype(np.int32, copy=False)
    (grouped,) = [place for place, module in enumerate(modules) if module.sets] or [-1]
    set_starts, groups = modules[grouped].sets or (np.zeros(1, np.int64), np.zeros(0, np.int32))
    entries = 0
    if grouped >= 0:
        by_word = np.concatenate(([0], np.cumsum(np.diff(set_starts)[keys[grouped]])))
        of_references = starts[: references * segments + 1]
        entries = int(np.diff(by_word[of_references]).max(initial=0))
    limit = int(max(keys.max(initial=-1), groups.max(initial=-1))) + 1
    counts = np.zeros((references, systems, segments, len(modules) + 2), np.int64)
    partners = np.empty((references, total - int(starts[references * segments])), np.int32)
    kernel("meteor")(
        starts, present, keys, grouped, set_starts, groups, limit, entries, systems, steps, counts, partners
    )
    return Links(counts, partners)
