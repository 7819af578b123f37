"""Groups of segments, by hand and by laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.inspection.partitions import (
    COUNTED_AT_ONCE,
    Partition,
    Passage,
    add_group_sums,
    by_document,
    by_domain,
    by_length,
)

DOCUMENTS = [Passage(0, 2, "quay", "news"), Passage(2, 1, "deck", ""), Passage(3, 2, "mast", "talk")]


def test_documents_and_domains():
    document, domain = by_document(DOCUMENTS, 6), by_domain(DOCUMENTS, 6)
    assert (document.groups, document.group_of.tolist()) == (["quay", "deck", "mast"], [0, 0, 1, 2, 2, -1])
    assert document.sizes == [2, 1, 2]
    assert (domain.groups, domain.group_of.tolist(), domain.sizes) == (["news", "talk"], [0, 0, -1, 1, 1, -1], [2, 2])


def test_pieces_of_one_name_are_one_document():
    pieces = [*DOCUMENTS, Passage(5, 1, "quay", "news")]
    found = by_document(pieces, 6)
    assert (found.groups, found.group_of.tolist()) == (["quay", "deck", "mast"], [0, 0, 1, 2, 2, 0])


@pytest.mark.parametrize(("documents", "kind"), [(1, "int8"), (128, "int8"), (129, "int16"), (32_769, "int32")])
def test_groups_are_numbered_in_the_smallest_type(documents, kind):
    found = by_document([Passage(number, 1, str(number), "") for number in range(documents)], documents + 1)
    assert found.group_of.dtype == kind
    assert found.group_of.tolist() == [*range(documents), -1]
    assert found.sizes == [1] * documents


def test_more_segments_than_are_counted_at_a_time():
    lengths = [np.full(COUNTED_AT_ONCE, 5.0), np.full(3, 15.0)]
    assert by_length(lengths, "cs").sizes == [COUNTED_AT_ONCE, 3]
    assert by_length(lengths, "cs").group_of.dtype == np.int8


def test_one_domain_and_no_document_divide_nothing():
    assert by_domain(DOCUMENTS[:2], 3) is None
    assert by_domain([], 3) is None
    assert by_document([], 3) is None


def test_lengths_in_words_without_empty_groups_at_the_ends():
    found = by_length([np.array([25.0, 45.0]), np.array([30.5, 50.0])], "cs")
    assert (found.what, found.groups) == ("words in the reference", ["21–30", "31–40", "41–50"])
    assert (found.group_of.tolist(), found.sizes) == ([0, 2, 1, 2], [1, 1, 2])
    assert by_length([np.array([25.0, 45.0])], "").sizes == [1, 0, 1], "an empty group between others stays"


@pytest.mark.parametrize("language", ["zh", "ja_JP"])
def test_lengths_in_characters(language):
    found = by_length([np.array([9.0, 1.0, 130.0])], language)
    assert found.what == "characters in the reference"
    assert (found.groups[0], found.groups[-1]) == ("up to 10", "over 120")
    assert found.sizes == [2, 0, 0, 0, 0, 0, 1]


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1000, 1000)), max_size=30), st.integers(0, 30))
def test_sums_of_groups_are_those_of_their_segments(rows, cut):
    """In two parts, as shards come, and of so many columns that the type of groups could not count the sums."""
    group_of = np.array([group for group, _ in rows], np.int8)
    statistics = np.array([[value] * 99 + [1] for _, value in rows], np.float64).reshape(-1, 100)
    sums = np.zeros((4, 100))
    add_group_sums(sums, statistics[:cut], group_of[:cut])
    add_group_sums(sums, statistics[cut:], group_of[cut:])
    assert sums.tolist() == [
        [sum(value for of, value in rows if of == group)] * 99 + [sum(of == group for of, _ in rows)]
        for group in range(4)
    ]
    sizes = Partition("any", list("abcd"), group_of).sizes
    assert sizes == sums[:, 99].tolist()
