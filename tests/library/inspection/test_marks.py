"""Word-level marks: every letter is kept, what is the same is a longest common subsequence, the rest adds up."""

from collections import Counter
from functools import cache
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from steelyard.inspection import marks
from steelyard.inspection.marks import Mark, Run, compare

SENTENCES = st.lists(st.sampled_from(["a", "b", "c", "loď", "שלום", ",", "."]), max_size=9).map(" ".join)


def longest_common(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """By definition."""

    @cache
    def length(i: int, j: int) -> int:
        if i == len(one) or j == len(other):
            return 0
        if one[i] == other[j]:
            return 1 + length(i + 1, j + 1)
        return max(length(i + 1, j), length(i, j + 1))

    return length(0, 0)


def words_of(runs: tuple[Run, ...], *kinds: Mark) -> list[str]:
    return [word for run in runs if run.mark in kinds for word in run.text.split()]


def test_an_example_by_hand():
    marked = compare("The big cat sat quietly .", ["The cat quietly sat down ."])
    assert marked.hypothesis == (
        Run("The ", Mark.SAME),
        Run("big ", Mark.ALONE),
        Run("cat sat ", Mark.SAME),
        Run("quietly ", Mark.MOVED),
        Run(".", Mark.SAME),
    )
    assert marked.reference == (
        Run("The cat ", Mark.SAME),
        Run("quietly ", Mark.MOVED),
        Run("sat ", Mark.SAME),
        Run("down ", Mark.ALONE),
        Run(".", Mark.SAME),
    )


def test_words_of_other_scripts():
    assert [run.text for run in compare("हिन्दी में", ["हिन्दी"]).hypothesis] == ["हिन्दी ", "में"]
    assert [run.text for run in compare("我们在家", ["我们家"]).hypothesis] == ["我们", "在", "家"]


@given(SENTENCES, SENTENCES)
def test_what_is_the_same_is_a_longest_common_subsequence(hypothesis, reference):
    marked = compare(hypothesis, [reference])
    same = words_of(marked.hypothesis, Mark.SAME)
    assert same == words_of(marked.reference, Mark.SAME)
    assert len(same) == longest_common(tuple(hypothesis.split()), tuple(reference.split()))


@given(SENTENCES, SENTENCES)
def test_moved_words_are_in_both_and_what_is_left_is_in_one_only(hypothesis, reference):
    marked = compare(hypothesis, [reference])
    moved = Counter(words_of(marked.hypothesis, Mark.MOVED))
    assert moved == Counter(words_of(marked.reference, Mark.MOVED))
    assert not Counter(words_of(marked.hypothesis, Mark.ALONE)) & Counter(words_of(marked.reference, Mark.ALONE))


@given(st.text(), st.lists(st.text(), min_size=1, max_size=3))
def test_every_letter_is_kept(hypothesis, references):
    marked = compare(hypothesis, references)
    assert "".join(run.text for run in marked.hypothesis) == hypothesis
    assert "".join(run.text for run in marked.reference) == references[marked.chosen]
    for runs in (marked.hypothesis, marked.reference):
        assert all(one.mark is not other.mark for one, other in pairwise(runs))


def test_the_closest_reference_is_chosen_and_the_first_of_equals():
    assert compare("a b c", ["x y z", "a b d", "a b d"]).chosen == 1
    assert compare("a b c", ["x", "y"]).chosen == 0
    assert compare("", ["x", ""]).chosen == 0


def test_punctuation_is_a_word_of_its_own():
    marked = compare("Ahoj, světe!", ["Ahoj světe!"])
    assert [run.text.strip() for run in marked.hypothesis if run.mark is Mark.ALONE] == [","]


def test_what_is_beyond_the_limit_is_shown_without_marks(monkeypatch):
    monkeypatch.setattr(marks, "LONGEST", 3)
    marked = compare("a b c d e", ["a b c d e"])
    assert marked.hypothesis == (Run("a b c ", Mark.SAME), Run("d e", Mark.UNMARKED))
