"""Clipped matches of n-grams, each worth its information."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metrics.kernels.loader import INTEGER, POINTER, address, checked, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from metrics.information import Information
    from metrics.kernels.words import Words


def ngram_information(
    words: Words,
    present: NDArray[np.uint8],
    systems: int,
    known: NDArray[np.int32],
    information: Information,
    orders: tuple[int, ...],
) -> NDArray[np.float64]:
    """What the matched n-grams of each order say together: (systems, segments, orders), in bits, not rounded.

    An n-gram counts at most as often as in the reference that has it most often; the numbers are added in the order
    of the hypothesis. `known` is the number that each word of a reference has in `information`; `present` is
    (references, segments); `orders` ascend.
    """
    references, segments = present.shape
    chosen = np.array(orders, np.int64)
    out = np.empty((systems, segments, len(orders)))
    function = kernel(
        "ngram_information", POINTER, INTEGER, *[POINTER] * 2, *[INTEGER] * 3, *[POINTER] * 5, INTEGER, POINTER
    )
    checked(
        function(
            address(words.ids), words.types, address(words.starts), address(present),
            references, systems, segments,
            address(known), address(information.first_child), address(information.words), address(information.bits),
            address(chosen), len(orders), address(out),
        )
    )  # fmt: skip
    return out
