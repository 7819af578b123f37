"""Resampling by document: what is drawn, exchanged or left out as a whole is a document, not a segment.

Segments of a document are alike: translated by one system in one go, on one subject, often with the same names. Drawing
them one by one takes each for evidence of its own, and makes intervals too narrow. Statistics are exact sums, so those
of a document are one row more of the same kind: everything that resamples segments resamples documents once they are
added up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadParameter

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FEW_DOCUMENTS = 20
"""With fewer, intervals by document are too narrow themselves."""


@dataclass(frozen=True, eq=False)
class Documents:
    """The document of every segment of a test set.

    Parameters
    ----------
    of_segment : ndarray of int64, shape (segments,)
        Numbers from 0, in the order in which documents begin.
    count : int
        How many documents there are.
    """

    of_segment: NDArray[np.int64]
    count: int

    @classmethod
    def from_names(cls, names: Sequence[Hashable]) -> Documents:
        """The documents of segments by their names.

        Parameters
        ----------
        names : sequence of hashable
            One for each segment; a document need not be in one piece.

        Returns
        -------
        Documents
        """
        numbers: dict[Hashable, int] = {}
        return cls(np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64), len(numbers))

    def __len__(self) -> int:
        """Return the number of segments."""
        return len(self.of_segment)

    def added_up(self, statistics: Floats, first: int = 0) -> Floats:
        """The statistics of the documents, as far as they are in a run of segments.

        Parameters
        ----------
        statistics : ndarray of float64, shape (systems, n, k)
            Of segments first..first + n.
        first : int

        Returns
        -------
        ndarray of float64, shape (systems, documents, k)
            Exact sums; zeros for documents outside the run. The sum over runs is that of the whole test set.

        Raises
        ------
        BadParameter
            Where there are more segments than documents are known for.
        """
        systems, segments, columns = statistics.shape
        if first + segments > len(self):
            raise BadParameter(f"Documents are known for {len(self)} segments, and there are {first + segments}.")
        found = np.zeros((systems, self.count, columns))
        if segments:
            numbers = self.of_segment[first : first + segments]
            order = np.argsort(numbers, kind="stable")
            present, begins = np.unique(numbers[order], return_index=True)
            found[:, present] = np.add.reduceat(statistics[:, order], begins, axis=1)
        return found


def few_documents(documents: Documents) -> str:
    """A sentence on too few documents; "" where there are enough.

    Parameters
    ----------
    documents : Documents

    Returns
    -------
    str
    """
    if documents.count >= FEW_DOCUMENTS:
        return ""
    return (
        f"There are only {documents.count} documents: resampling so few makes intervals too narrow and p-values too "
        "small."
    )
