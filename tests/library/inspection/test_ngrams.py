"""N-grams that one system gets right: against a slow twin, and against BLEU's own matches."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard import BLEU
from steelyard.inspection.ngrams import ORDERS, matched_ngrams, ngram_differences
from steelyard.metrics.segments import Segments

LINES = st.lists(st.sampled_from(["a", "b", "c", "loď"]), max_size=6).map(" ".join)


def ngrams(line: str, order: int) -> Counter:
    words = line.split()
    return Counter(tuple(words[at : at + order]) for at in range(len(words) - order + 1))


def slow(references: list[list[str]], system: list[str], order: int) -> tuple[Counter, Counter]:
    """Matches and possible matches, segment by segment, by definition."""
    matched, possible = Counter(), Counter()
    for segment, line in enumerate(system):
        greatest = Counter()
        for reference in references:
            greatest |= ngrams(reference[segment], order)
        matched += ngrams(line, order) & greatest
        possible += greatest
    return matched, possible


def batch_of(references: list[list[str]], systems: list[list[str]]) -> Segments:
    return Segments(
        references=["\n".join(text).encode() for text in references],
        hypotheses=["\n".join(text).encode() for text in systems],
    )


@st.composite
def batches(draw) -> tuple[list[list[str]], list[list[str]]]:
    segments = draw(st.integers(1, 4))
    texts = [[draw(LINES) for _ in range(segments)] for _ in range(4)]
    return texts[:2], texts[2:]


@given(batches())
def test_the_differences_of_a_slow_twin(texts):
    references, systems = texts
    found = ngram_differences(batch_of(references, systems), [(0, 1)], tokenizer="none", most=3)[0]
    assert tuple(found) == ORDERS
    for order, lists in found.items():
        one, possible = slow(references, systems[0], order)
        other, _ = slow(references, systems[1], order)
        for sign, shown in zip((1, -1), lists, strict=True):
            gains = {gram: sign * (one[gram] - other[gram]) for gram in one | other}
            expected = sorted(
                (gram for gram in gains if gains[gram] > 0), key=lambda gram: (-gains[gram], possible[gram], gram)
            )
            assert [each.ngram for each in shown] == expected[:3]
            assert all((each.first, each.second) == (one[each.ngram], other[each.ngram]) for each in shown)
            assert all(each.references == possible[each.ngram] for each in shown)


@given(batches())
def test_pairs_that_are_asked_for_together_are_those_asked_for_alone(texts):
    segments = batch_of(texts[0][:1], [*texts[0][1:], *texts[1]])
    pairs = [(0, 1), (2, 1), (1, 1)]
    alone = [ngram_differences(segments, [pair], tokenizer="none", most=3)[0] for pair in pairs]
    assert ngram_differences(segments, pairs, tokenizer="none", most=3) == alone


@given(batches())
def test_the_matches_are_those_of_bleu(texts):
    segments = batch_of(*texts)
    sums = BLEU().segment_statistics(segments).sum(axis=1)
    for system in (0, 1):
        assert list(matched_ngrams(segments, system).values()) == sums[system, 2:6].tolist()


def test_the_matches_are_those_of_bleu_on_real_texts(real_data):
    folder = real_data / "wmt22.en-cs"
    references = [(folder / "refs" / f"{label}.txt").read_bytes().removesuffix(b"\n") for label in "BC"]
    systems = [
        (folder / "systems" / f"{name}.txt").read_bytes().removesuffix(b"\n") for name in ("Online-B", "Online-G")
    ]
    segments = Segments(references=references, hypotheses=systems)
    sums = BLEU().segment_statistics(segments).sum(axis=1)
    assert list(matched_ngrams(segments, 1).values()) == sums[1, 2:6].tolist()


@pytest.mark.parametrize("missing", [0, 1])
def test_a_missing_reference_of_a_segment_does_not_count(missing):
    references = [["a b"], ["c d"]]
    references[missing] = [""]
    segments = Segments(
        references=["\n".join(text).encode() for text in references],
        hypotheses=[b"a b", b"c d"],
        variable_references=True,
    )
    found = ngram_differences(segments, [(0, 1)])[0]
    assert [bool(lists[missing]) for lists in found.values()] == [False] * 4
    assert [bool(lists[1 - missing]) for lists in found.values()] == [True, True, False, False]


def test_empty_texts_have_no_ngrams():
    assert ngram_differences(batch_of([[""]], [[""], [""]]), [(0, 1)])[0] == {order: ([], []) for order in ORDERS}
