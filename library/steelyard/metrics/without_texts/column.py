"""What a column has in common with a metric, and that no texts are read for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from steelyard.errors import BadParameter
from steelyard.metrics.metric import Metric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from steelyard.metrics.segments import Segments


@dataclass(frozen=True)
class Column(Metric):
    """A column of leaderboards whose statistics are given; a protocol names it as it names any metric."""

    reads_texts: ClassVar[bool] = False
    inputs: ClassVar[frozenset[str]] = frozenset()
    scale: ClassVar[float] = math.inf

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:  # noqa: ARG002 - there is nothing to read
        """No statistics can be computed.

        Parameters
        ----------
        segments : Segments

        Returns
        -------
        (systems, segments, k) float64
            Never.

        Raises
        ------
        BadParameter
        """
        raise BadParameter(f"{self.specification} is a column of a leaderboard, and is not computed from texts.")
