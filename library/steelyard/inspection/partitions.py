"""Test sets in groups of segments: by length, by document, by domain; and the sums of each group's statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.inspection.lengths import CHARACTERS, WORDS, counts_characters, length_buckets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray


COUNTED_AT_ONCE = 1 << 16
"""Segments whose groups are counted at a time: NumPy counts 64-bit numbers."""


@dataclass(frozen=True)
class Passage:
    """A document: a run of segments that belong together."""

    first: int
    segments: int
    name: str
    domain: str
    """Empty where it is not known."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Groups of segments."""

    what: str
    """The property that defines the groups, such as "words in the reference"."""
    groups: Sequence[str]
    group_of: NDArray[np.signedinteger[Any]]
    """(segments,): the group of each segment; -1 for none. Of the smallest type: there may be millions."""

    @property
    def sizes(self) -> list[int]:
        """The number of segments in each group."""
        counts = np.zeros(len(self.groups), np.int64)
        for begin in range(0, len(self.group_of), COUNTED_AT_ONCE):
            some = self.group_of[begin : begin + COUNTED_AT_ONCE]
            counts += np.bincount(some[some >= 0], minlength=len(self.groups))
        return [int(count) for count in counts]


def by_length(lengths: Iterable[NDArray[np.float64]], language: str) -> Partition:
    """Groups by the length of a segment's references, without the empty groups at either end.

    Parameters
    ----------
    lengths : iterable of ndarray of float64, shape (segments of a part,)
        Of one part after the other, as of `steelyard.inspection.lengths.reference_lengths`, in characters where the
        language is written without spaces.
    language : str
        The code of the language of the references, such as `zh`; empty where it is not known.

    Returns
    -------
    Partition
    """
    characters = counts_characters(language)
    names, group_of = length_buckets(lengths, CHARACTERS if characters else WORDS)
    return _trimmed(Partition(f"{'characters' if characters else 'words'} in the reference", names, group_of))


def by_document(documents: Sequence[Passage], segments: int) -> Partition | None:
    """One group for each document; pieces of one name are one document.

    Parameters
    ----------
    documents : sequence of Passage
    segments : int
        Of the test set.

    Returns
    -------
    Partition or None
        None without documents.
    """
    if not documents:
        return None
    names = list(dict.fromkeys(document.name for document in documents))
    numbers = {name: number for number, name in enumerate(names)}
    group_of = _no_groups(segments, len(names))
    for document in documents:
        group_of[document.first : document.first + document.segments] = numbers[document.name]
    return Partition("document", names, group_of)


def by_domain(documents: Sequence[Passage], segments: int) -> Partition | None:
    """Groups by the domain of the document, in the order of their names.

    Parameters
    ----------
    documents : sequence of Passage
    segments : int
        Of the test set.

    Returns
    -------
    Partition or None
        None with fewer than two domains.
    """
    domains = sorted({document.domain for document in documents} - {""})
    if len(domains) < 2:
        return None
    group_of = _no_groups(segments, len(domains))
    for document in documents:
        if document.domain:
            group_of[document.first : document.first + document.segments] = domains.index(document.domain)
    return Partition("domain", domains, group_of)


def add_group_sums(
    sums: NDArray[np.float64], statistics: NDArray[np.float64], group_of: NDArray[np.signedinteger[Any]]
) -> None:
    """Add the statistics of segments to the sums of their groups, exactly.

    Parameters
    ----------
    sums : ndarray of float64, shape (groups, k)
        Changed in place.
    statistics : ndarray of float64, shape (segments, k)
    group_of : ndarray of signed integers, shape (segments,)
        -1 for segments of no group.
    """
    groups, columns = sums.shape
    inside = group_of >= 0
    # Groups have the smallest type that holds them: cells, which are more, need another.
    cells = group_of[inside, None].astype(np.intp) * columns + np.arange(columns)
    sums += np.bincount(cells.ravel(), statistics[inside].ravel(), groups * columns).reshape(groups, columns)


def _no_groups(segments: int, groups: int) -> NDArray[np.signedinteger[Any]]:
    """Segments of no group yet, in the smallest type for so many groups."""
    return np.full(segments, -1, np.min_scalar_type(-max(groups, 1)))


def _trimmed(partition: Partition) -> Partition:
    """The partition without empty groups at its beginning and end."""
    filled = [number for number, size in enumerate(partition.sizes) if size]
    first, last = min(filled, default=0), max(filled, default=0)
    return Partition(partition.what, partition.groups[first : last + 1], partition.group_of - first)
