"""LeBLEU against its definition with exact fractions and a plain edit distance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import BadParameter
from steelyard.metrics.ngram.lebleu import LeBLEU
from steelyard.metrics.segments import Segments
from tests.library.campaigns import Campaign, campaigns, joined, read_campaign
from tests.library.metrics.ngram.lebleu_definition import row, sampled_starts
from tests.library.unigram_definitions import batch_of, one_segment

similar = st.lists(st.sampled_from(["ab", "abc", "abcabc", "cab", "bcabca", "c", "éa", "🙂"]), max_size=7).map(" ".join)
# N-grams around the edges of the 64-bit words, and some too long to be compared.
long_words = st.builds(
    lambda letters, size, end: (letters * size)[:size] + end,
    st.sampled_from(["a", "ab", "abcde", "abacus"]),
    st.sampled_from([1, 2, 20, 31, 61, 62, 63, 64, 65, 127, 128, 200, 300, 509, 510, 511, 512, 513, 600]),
    st.sampled_from(["", "x", "ya"]),
)
wide = st.lists(long_words, max_size=5).map(" ".join)


@st.composite
def texts_of(draw, segment):
    segments = draw(st.integers(1, 2))
    text = st.lists(segment, min_size=segments, max_size=segments)
    return Campaign(
        {f"R{i}": draw(text) for i in range(draw(st.integers(1, 3)))},
        {f"S{i}": draw(text) for i in range(draw(st.integers(1, 3)))},
    )


def expected(campaign, order=4, threshold=0.4, variable=False):
    return [
        [
            row(line.split(), [one.split() for one in of_segment if one or not variable], order, threshold)
            for line, *of_segment in zip(lines, *campaign.references.values(), strict=True)
        ]
        for lines in campaign.systems.values()
    ]


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(texts_of(similar), campaigns(3)),
    st.sampled_from([4, 4, 1, 2, 8]),
    st.sampled_from([0.4, 0.4, 0.0, 0.5, 0.6, 2 / 3, 1.0]),
    st.booleans(),
)
def test_equals_the_definition(campaign, order, threshold, variable):
    if variable:
        campaign.references["always"] = ["abc cab"] * len(campaign.systems["S0"])
    statistics = LeBLEU(order=order, threshold=threshold).segment_statistics(batch_of(campaign, variable))
    assert statistics.tolist() == expected(campaign, order, threshold, variable)


@settings(max_examples=100, deadline=None)
@given(texts_of(wide), st.sampled_from([0.4, 0.9]))
def test_equals_the_definition_on_long_words(campaign, threshold):
    statistics = LeBLEU(threshold=threshold).segment_statistics(batch_of(campaign))
    assert statistics.tolist() == expected(campaign, threshold=threshold)


def test_equals_the_definition_on_real_data(real_data):
    campaign = read_campaign(real_data / "wmt22.de-en")
    part = Campaign(
        {label: lines[::97] for label, lines in campaign.references.items()},
        {name: lines[::97] for name, lines in list(campaign.systems.items())[:3]},
    )
    statistics = LeBLEU().segment_statistics(batch_of(part))
    assert statistics.tolist() == expected(part)
    assert len(np.unique(statistics[..., 0])) > 20


@pytest.mark.parametrize(("own", "theirs"), [(501, 30), (30, 251), (749, 374), (1001, 520), (1499, 800)])
def test_long_texts_are_sampled(own, theirs):
    words = ["ab", "abc", "cab", "ba"]
    hypothesis = [words[i * i % 7 % 4] for i in range(own)]
    reference = [words[i * i % 11 % 4] for i in range(theirs)]
    ((statistics,),) = LeBLEU().segment_statistics(one_segment(" ".join(hypothesis), [" ".join(reference)]))
    assert statistics.tolist() == row(hypothesis, [reference])
    assert statistics[4] == len(sampled_starts(own, 500))


def test_the_sample():
    """Figures of the authors' rule: at most half as many again as the limit, evenly spread."""
    assert [len(sampled_starts(words, 500)) for words in (500, 501, 749, 750, 1000, 1001, 1499, 5000)] == [
        500, 500, 500, 500, 500, 501, 750, 500,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("hypothesis", "references", "hits"),
    [
        ("doghouse", ["dog houses"], 8 / 10),
        ("doghouse", ["dog"], 0),  # 3/8 is below the threshold
        ("dog houses", ["doghouse"], 1 / 2),  # "houses"; "dog" has 3/8
        ("abc", ["abcde"], 3 / 5),
        ("abxxx", ["abyyy"], 2 / 5),  # "at least", not "more than"
        ("abc abc", ["abc abd"], 1 + 2 / 3),  # once each
        ("abc abc", ["abc"], 1),
        ("abc abd", ["abc"], 1 + 2 / 3),  # but another n-gram may take the same
        # Each n-gram has its best in another reference, all of its occurrences together.
        ("abc wxy", ["abc", "wxz"], 1 + 2 / 3),
        ("abc abc", ["abc", "abd abd"], 4 / 3),
    ],
)
def test_single_words(hypothesis, references, hits):
    ((statistics,),) = LeBLEU().segment_statistics(one_segment(hypothesis, references))
    assert statistics[0] == pytest.approx(hits, abs=2**-25)


@pytest.mark.parametrize(
    ("hypothesis", "references", "score"),
    [
        ("doghouse", ["dog houses"], 80 * math.exp(1 - 10 / 8)),
        ("the doghouse", ["the dog houses"], 100 * (1.8 / 2 + 12 / 14) / 2 * math.exp(1 - 14 / 12)),
        ("a dog", ["a dog", "something entirely different"], 100),
        ("", ["word"], 0),
        ("word", [""], 0),
        ("", [""], math.nan),
    ],
)
def test_single_scores(hypothesis, references, score):
    metric = LeBLEU()
    scores = metric.segment_score(metric.segment_statistics(one_segment(hypothesis, references)))
    assert scores[0, 0] == pytest.approx(score, abs=1e-5, nan_ok=True)


def test_the_corpus_score_is_that_of_the_sums():
    metric = LeBLEU()
    segments = Segments(
        references=[joined(["the dog houses", "a b c d e", "", "z"])],
        hypotheses=[joined(["the doghouse", "a b c x e", "", ""])],
    )
    sums = metric.segment_statistics(segments).sum(axis=1)[0]
    precisions = sums[:4] / sums[4:8]
    assert metric.score(sums) == pytest.approx(100 * precisions.mean() * math.exp(1 - 24 / 21))
    assert sums[8:].tolist() == [21, 24]


def test_closest_length_the_shorter_on_ties():
    statistics = LeBLEU().segment_statistics(one_segment("abc", ["a", "abcde", "abcdefgh"]))
    assert statistics[0, 0, -2:].tolist() == [3, 1]


def test_a_longer_n_gram_than_512_characters_is_only_equal_or_not():
    words = "a" * 512, "a" * 511 + "b", "a" * 513
    rates = [LeBLEU().segment_statistics(one_segment(words[0], [word]))[0, 0, 0] for word in words]
    assert rates == [1, pytest.approx(511 / 512), 0]
    assert LeBLEU().segment_statistics(one_segment(words[2], [words[2]]))[0, 0, 0] == 1


@pytest.mark.parametrize("text", ["order=0", "order=9", "order=x", "threshold=1.1", "threshold=nan"])
def test_values_that_are_not_allowed(text):
    key, _, value = text.partition("=")
    with pytest.raises(BadParameter, match=f"lebleu: {key}"):
        LeBLEU.from_texts({key: value})


def test_what_it_says_of_itself():
    metric = LeBLEU.from_texts({"order": "2", "threshold": "0.5"})
    assert (LeBLEU().title, metric.title) == ("LeBLEU", "LeBLEU[order=2][threshold=0.5]")
    assert metric.columns == ("hits_1", "hits_2", "total_1", "total_2", "hyp_chars", "ref_chars")
    assert metric.signature(1).endswith("|order:2|threshold:0.5")
