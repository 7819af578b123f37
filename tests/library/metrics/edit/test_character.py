"""CharacTER against its definition, and against figures of the package `cer`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from steelyard.metrics.edit.character import CharacTER
from steelyard.metrics.segments import Segments
from tests.library.campaigns import Campaign, campaigns, joined, read_campaign
from tests.library.metrics.edit.character_definition import row
from tests.library.unigram_definitions import batch_of, one_segment, rows

# Few words, so that blocks move; as ties depend on code points, some beyond 16 bits and some that begin alike.
few = st.lists(st.sampled_from(["a", "b", "ab", "abc", "\uffee", "🙂", "é"]), max_size=9).map(" ".join)
# Around the edges of the 64-bit words.
many = st.builds(
    lambda words, size, moved: " ".join((words * size)[moved : size + moved]),
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=30),
    st.sampled_from([1, 62, 63, 64, 65, 66, 127, 128, 129, 150]),
    st.integers(0, 20),
)


def texts_of(segment):
    return st.integers(1, 2).flatmap(
        lambda n: st.builds(
            lambda references, systems: Campaign(dict(enumerate(references)), dict(enumerate(systems))),
            st.lists(st.lists(segment, min_size=n, max_size=n), min_size=1, max_size=2),
            st.lists(st.lists(segment, min_size=n, max_size=n), min_size=1, max_size=2),
        )
    )


@settings(max_examples=300, deadline=None)
@given(st.one_of(texts_of(few), campaigns()), st.booleans())
def test_equals_the_definition(campaign, variable):
    if variable:
        segments = len(next(iter(campaign.systems.values())))
        campaign.references["always"] = ["b abc a b"] * segments
    statistics = CharacTER().segment_statistics(batch_of(campaign, variable))
    assert statistics.tolist() == rows(row, campaign, variable=variable)


@pytest.mark.thorough
@settings(max_examples=20, deadline=None)
@given(texts_of(many))
def test_equals_the_definition_on_long_segments(campaign):
    assert CharacTER().segment_statistics(batch_of(campaign)).tolist() == rows(row, campaign)


def test_equals_the_definition_on_real_data(real_data):
    campaign = read_campaign(real_data / "wmt22.de-en")
    part = Campaign(
        {label: lines[::31] for label, lines in campaign.references.items()},
        {name: lines[::31] for name, lines in list(campaign.systems.items())[:4]},
    )
    statistics = CharacTER().segment_statistics(batch_of(part))
    assert statistics.tolist() == rows(row, part)
    assert len(np.unique(statistics[..., 0])) > 100


# By `calculate_cer` of the package cer 1.2.0.
FIGURES = [
    (
        "the harbour was closed on monday because of the storm",
        "because of the storm the harbour was closed on monday",
        0.1471698113207547,
    ),
    (
        "because of ice the ferry to the island did not sail today",
        "the ferry to the island did not sail today because of the ice",
        0.14035087719298245,
    ),
    ("Kvůli bouři byl přístav v pondělí zavřený .", "V pondělí byl přístav kvůli bouři zavřen .", 0.5116279069767442),
    ("morgen fährt das Schiff nicht", "das Schiff fährt morgen nicht", 0.5517241379310345),
    (
        "to be or not to be that is the question to be asked",
        "that is to be asked or not to be the question to be",
        0.1568627450980392,
    ),
    ("a b c d e f g h", "h g f e d c b a", 0.4666666666666667),
    ("x y x y x z", "y x z x y x", 0.2727272727272727),
    ("nothing in common", "gar keine Ähnlichkeit", 0.9411764705882353),
]


@pytest.mark.parametrize(("hypothesis", "reference", "rate"), FIGURES)
def test_equals_the_package_cer(hypothesis, reference, rate):
    ((statistics,),) = CharacTER().segment_statistics(one_segment(hypothesis, [reference]))
    assert statistics[0] == pytest.approx(rate, abs=2**-25)


@pytest.mark.parametrize(
    ("hypothesis", "references", "rate"),
    [
        # "sat" moves to the end (3 letters on average), and one letter goes: 4 of 16 characters.
        ("sat the red cats", ["the red cat sat"], 4 / 16),
        ("sat the red cats", ["something else", "the red cat sat"], 4 / 16),
        ("ab cd", ["ab cd"], 0),
        ("ab cd", ["cd ab"], 2 / 5),
        ("a", ["a long reference"], 1),  # 15 edits, but never more than 1
        ("word", [""], 1),
        ("", ["word"], 1),
        ("", [""], 1),
    ],
)
def test_single_segments(hypothesis, references, rate):
    ((statistics,),) = CharacTER().segment_statistics(one_segment(hypothesis, references))
    assert statistics.tolist() == [pytest.approx(rate, abs=2**-25), 1]


def test_of_orders_that_are_as_good_the_last_by_code_points_counts():
    """Behind "now then now" both "then now now" and "now now then" are one word nearer; the latter would give 11/12."""
    ((statistics,),) = CharacTER().segment_statistics(one_segment("now then now", ["we now go"]))
    assert statistics[0] == pytest.approx(2 / 3, abs=2**-25)


def test_the_corpus_score_is_the_mean_of_the_segments():
    reference = joined(["ab cd", "ab cd", "some more words in this one"])
    output = joined(["cd ab", "ab cd", ""])
    metric = CharacTER()
    statistics = metric.segment_statistics(Segments(references=[reference], hypotheses=[output]))
    assert metric.segment_score(statistics).tolist() == [[pytest.approx(40), 0, 100]]
    assert metric.score(statistics.sum(axis=1)) == pytest.approx([140 / 3])
    assert np.isnan(metric.score(np.zeros(2)))


@pytest.mark.parametrize(
    ("words", "of_reference", "moves"),
    [(1000, 1000, True), (1001, 1001, False), (1001, 1000, False), (1000, 1001, False)],
)
def test_very_long_segments_are_not_reordered(words, of_reference, moves):
    text = [f"w{i}" for i in range(1001)]
    hypothesis, reference = " ".join([*text[3:words], *text[:3]]), " ".join(text[:of_reference])
    rate = CharacTER().segment_statistics(one_segment(hypothesis, [reference]))[0, 0, 0]
    # The words before the three move, or (as the last order by code points does) the three to the front.
    plain = Levenshtein.distance(hypothesis, reference) / len(hypothesis)
    assert (rate < plain * 0.9) if moves else rate == pytest.approx(plain, abs=2**-25)


@pytest.mark.parametrize(("half", "moves"), [(150, True), (200, False)])
def test_a_search_that_would_take_too_long_is_not_begun(half, moves):
    """2 * 200 * 200 pairs of equal words, 400 words each time, 7 times 64 reference words: beyond 200 million steps."""
    hypothesis, reference = "first " * half + "second " * half, "second " * half + "first " * half
    rate = CharacTER().segment_statistics(one_segment(hypothesis, [reference]))[0, 0, 0]
    plain = Levenshtein.distance(hypothesis, reference) / len(hypothesis)
    assert (rate < 0.01) if moves else (rate == pytest.approx(plain, abs=0.001) and plain > 0.5)


def test_texts_beyond_65536_characters_are_compared_in_pieces():
    text = "".join(chr(97 + i * i * i // 7 % 23) for i in range(100_000))
    changed = text[:20_000] + "!" + text[20_001:]
    hypotheses = [text, changed, "?" * 100_000, text[2:] + "??"]
    segments = Segments(references=[text.encode()], hypotheses=[each.encode() for each in hypotheses])
    rates = CharacTER().segment_statistics(segments)[:, 0, 0]
    # The last one lacks two letters at the beginning and has two more at the end: in each of the two pieces.
    assert rates == pytest.approx([0, 1e-5, 1, 8e-5], abs=2**-25)


def test_case_and_tokens():
    assert CharacTER(case="lc").segment_statistics(one_segment("THE Cat", ["the cat"]))[0, 0, 0] == 0
    assert CharacTER(tok="13a").segment_statistics(one_segment("cat.", ["cat ."]))[0, 0, 0] == 0
    assert CharacTER().segment_statistics(one_segment("cat.", ["cat ."]))[0, 0, 0] == 0.25


def test_what_it_says_of_itself():
    metric = CharacTER()
    assert metric.title == "CharacTER"
    assert metric.signature(1).startswith("nrefs:1|case:mixed|tok:none|")
    assert not metric.higher_is_better
