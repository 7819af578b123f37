"""RIBES against its definition, NLTK's and examples by hand."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.ribes_score import sentence_ribes

from steelyard import RIBES
from steelyard.metrics.segments import Segments
from tests.library.campaigns import campaigns
from tests.library.unigram_definitions import batch_of, one_segment

few = st.lists(st.sampled_from("abc"), max_size=12).map(" ".join)


def places(run, words):
    return [at for at in range(len(words) - len(run) + 1) if words[at : at + len(run)] == run]


def alignment(hypothesis, reference):
    """As Isozaki's program looks for it: more and more words before, or else behind."""
    found = []
    for i in range(len(hypothesis)):
        for window in range(len(hypothesis)):
            before, behind = hypothesis[max(i - window, 0) : i + 1], hypothesis[i : i + window + 1]
            if window <= i and len(places(before, hypothesis)) == len(places(before, reference)) == 1:
                found.append(places(before, reference)[0] + window)
                break
            if i + window < len(hypothesis) and len(places(behind, hypothesis)) == len(places(behind, reference)) == 1:
                found.append(places(behind, reference)[0])
                break
    return found


def defined(hypothesis, references, alpha=0.25, beta=0.1):
    best = 0.0
    for reference in references:
        if not hypothesis:
            continue
        found = alignment(hypothesis, reference)
        pairs = [(a, b) for at, a in enumerate(found) for b in found[at + 1 :]]
        if len(found) > 1:
            order = sum(a < b for a, b in pairs) / len(pairs)
        else:
            order = float(len(found) == 1 == len(reference))
        precision = len(found) / len(hypothesis)
        brevity = min(1.0, math.exp(1 - len(reference) / len(hypothesis)))
        best = max(best, order * precision**alpha * brevity**beta)
    return best


def scored(metric, hypothesis, references):
    return metric.score_segments(one_segment(hypothesis, references))[0, 0]


@given(few, st.lists(few, min_size=1, max_size=3), st.sampled_from([(0.25, 0.1), (1, 0), (0, 1.5)]))
def test_it_is_what_its_definition_says(hypothesis, references, exponents):
    metric = RIBES(alpha=exponents[0], beta=exponents[1], tok="none")
    wanted = defined(hypothesis.split(), [each.split() for each in references], *exponents)
    assert scored(metric, hypothesis, references) == pytest.approx(wanted, abs=1e-12)


def test_every_two_short_texts_of_two_words():
    """Runs that end with their text are other ones than those that go on; drawn texts seldom have them."""
    texts = [" ".join(words) for length in range(6) for words in itertools.product("ab", repeat=length)]
    pairs = list(itertools.product(texts, repeat=2))
    hypotheses, references = ("\n".join(side).encode() for side in zip(*pairs, strict=True))
    found = RIBES(tok="none").score_segments(Segments(references=[references], hypotheses=[hypotheses]))[0]
    wanted = [defined(hypothesis.split(), [reference.split()]) for hypothesis, reference in pairs]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


@given(campaigns())
def test_whole_campaigns_are_scored_as_segments_are(campaign):
    metric = RIBES(tok="none")
    found = metric.score_segments(batch_of(campaign))
    for system, lines in enumerate(campaign.systems.values()):
        for segment, line in enumerate(lines):
            references = [text[segment] for text in campaign.references.values()]
            wanted = defined(line.split(), [each.split() for each in references])
            assert found[system, segment] == pytest.approx(wanted, abs=1e-12)


@given(st.permutations("abcdefgh"), st.lists(st.sampled_from("abcdefghxyz"), min_size=2, max_size=11, unique=True))
def test_nltk_agrees_where_no_word_comes_twice(reference, hypothesis):
    if len(set(hypothesis) & set(reference)) > 1:
        found = scored(RIBES(tok="none"), " ".join(hypothesis), [" ".join(reference)])
        assert found == pytest.approx(sentence_ribes([list(reference)], hypothesis), abs=1e-12)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "score"),
    [
        ("on the mat the cat sat", "the cat sat on the mat", 40),
        ("a b c", "a b c", 100),
        ("a", "a", 100),
        ("a", "a b", 0),
        ("", "a", 0),
        ("a", "", 0),
        ("", "", 0),
        ("b a", "a b", 0),
        ("a b x x", "a b", 100 * 0.5**0.25),
        ("a b", "a b c d", 100 * math.exp(-0.1)),
    ],
)
def test_examples_by_hand(hypothesis, reference, score):
    assert RIBES(tok="none").sentence_score(hypothesis, [reference]).score == pytest.approx(score, abs=1e-5)


def test_the_corpus_score_is_the_mean():
    score = RIBES(tok="none").corpus_score(["a b c", "b a"], [["a b c", "a b"]])
    assert score.score == pytest.approx(50)
    assert score.signature == "nrefs:1|case:mixed|tok:none|version:steelyard-0.1.0|alpha:0.25|beta:0.1"


@pytest.mark.parametrize("words", [["a"] * 20_000, ["a", "b"] * 10_000, ["a"] * 10_000 + ["b"] + ["a"] * 9_999])
def test_words_that_repeat_end_in_time(words):
    """Growing contexts one by one took the cube of them: hours."""
    segments = Segments(references=[" ".join(words).encode()], hypotheses=[" ".join(words[1:]).encode()])
    assert 0 <= RIBES(tok="none").score_segments(segments)[0, 0] <= 1


def test_a_reference_that_is_missing_is_passed_over():
    segments = Segments(references=[b"a b\n", b"\nb a"], hypotheses=[b"a b\nb a"], variable_references=True)
    assert np.allclose(RIBES(tok="none").score_segments(segments), 1)
