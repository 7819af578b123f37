"""Segments scored by content: each once, kept in a store, and known by all texts that were read."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from steelyard.errors import BadText
from steelyard.metrics.content_scores import Content, ContentMetric, contents_of
from steelyard.metrics.preparation.score_store import Scored
from steelyard.metrics.segments import Segments


@dataclass(frozen=True)
class Lengths(ContentMetric):
    """The characters of all texts that it reads, and those of the hypothesis."""

    name: ClassVar[str] = "lengths"
    source: ClassVar[str] = "made up"
    width: ClassVar[int] = 2
    asked: ClassVar[list] = []

    def scorer(self, resources):
        return "lengths 1"

    def score_contents(self, contents, resources, keep):
        assert len(set(contents)) == len(contents)
        for position, content in enumerate(contents):
            self.asked.append(content)
            total = len(content.hypothesis) + sum(map(len, content.references))
            keep({position: Scored((float(total), float(len(content.hypothesis))))})


class Memory:
    """A store that says what it was asked."""

    def __init__(self):
        self.stored = {}

    def known(self, scorer, digests):
        return {digest: self.stored[scorer, digest] for digest in digests if (scorer, digest) in self.stored}

    def keep(self, scorer, scored):
        return {digest: self.stored.setdefault((scorer, digest), each.values) for digest, each in scored.items()}


@pytest.fixture(autouse=True)
def _nothing_asked():
    Lengths.asked.clear()


def test_equal_contents_are_scored_once():
    segments = Segments(references=[b"a\na\nbb"], hypotheses=[b"x\nx\nx", b"x\ny\nzz"])
    values = Lengths().values(segments)
    assert values.tolist() == [[[2, 1], [2, 1], [3, 1]], [[2, 1], [2, 1], [4, 2]]]
    assert len(Lengths.asked) == 4


def test_what_a_store_knows_is_not_computed_again_and_what_was_stored_first_counts():
    segments = Segments(references=[b"a\nbb"], hypotheses=[b"x\ny"])
    segments.score_store = Memory()
    first = Lengths().score_segments(segments)
    more = Segments(references=[b"a\nbb"], hypotheses=[b"x\nz"])
    more.score_store = segments.score_store
    assert Lengths().score_segments(more).tolist() == [[2, 3]]
    assert [content.hypothesis for content in Lengths.asked] == ["x", "y", "z"]
    more.score_store.stored = dict.fromkeys(more.score_store.stored, (7.0, 7.0))
    assert Lengths().score_segments(segments).tolist() == [[7, 7]]
    assert first.tolist() == [[2, 3]]


def test_statistics_are_those_of_a_mean_of_segments():
    segments = Segments(references=[b"a\nbb"], hypotheses=[b"x\ny"])
    statistics = Lengths().segment_statistics(segments)
    assert Lengths().score(statistics.sum(axis=1)).tolist() == [2.5]


def test_no_two_contents_have_the_same_digest():
    contents = [
        Content("a", "b", ("c",)),
        Content("ab", "", ("c",)),
        Content("a", "b", ("c", "")),
        Content("a", None, ("b", "c")),
        Content("a", "b", None),
        Content("a", "b", ()),
        Content("a", None, None),
        Content("a", "", None),
        Content("a2:b", None, None),
        Content("a", "b", ("c", "d")),
        Content("a", "b", ("c1:d",)),
    ]
    assert len({content.digest for content in contents}) == len(contents)
    assert Content("a", "b", ("c",)).digest == contents[0].digest


def test_a_content_has_what_the_metric_reads_and_the_references_that_the_segment_has():
    segments = Segments(references=[b"a\n", b"c\nd"], hypotheses=[b"x\ny"], source=b"s\nt", variable_references=True)
    assert contents_of(segments, frozenset({"source"})) == [[Content("x", "s"), Content("y", "t")]]
    both = contents_of(segments, frozenset({"source", "reference"}))
    assert both == [[Content("x", "s", ("a", "c")), Content("y", "t", ("d",))]]
    bare = Segments(references=[b"a\nb"], hypotheses=[b"x\ny"])
    with pytest.raises(BadText, match=r"^The metric reads the source, and there is none\. Give it: --source FILE\.$"):
        contents_of(bare, frozenset({"source"}))
    assert contents_of(bare, frozenset({"reference"})) == [[Content("x", None, ("a",)), Content("y", None, ("b",))]]
