"""tBLEU against its definition with exact fractions, and against BLEU where they are the same."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import BadParameter
from steelyard.kernels.alignment import alignments as kernel
from steelyard.metrics.alignment.tbleu import TBLEU
from steelyard.metrics.ngram.bleu import BLEU
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.segments import Segments
from tests.library.campaigns import Campaign, campaigns, joined, read_campaign
from tests.library.metrics.alignment.tbleu_definition import affix_distance, row
from tests.library.unigram_definitions import batch_of

EPSILONS = [0.0, 0.05, 0.25, 1 / 3, 0.5, 0.7, 1.0]
similar = st.lists(st.sampled_from(["abc", "abd", "abde", "xabc", "bcd", "aab", "ab", "b"]), max_size=5)


@st.composite
def similar_words(draw):
    """Campaigns whose words resemble one another."""
    segments = draw(st.integers(1, 2))
    text = st.lists(similar.map(" ".join), min_size=segments, max_size=segments)
    return Campaign(
        {f"R{i}": draw(text) for i in range(draw(st.integers(1, 3)))},
        {f"S{i}": draw(text) for i in range(draw(st.integers(1, 2)))},
    )


@settings(max_examples=100, deadline=None)
@given(similar_words(), st.sampled_from(EPSILONS), st.sampled_from([(1, 2, 3, 4), (2,), (1, 3)]), st.booleans())
def test_equals_the_definition(campaign, eps, order, variable):
    if variable:
        campaign.references["always"] = ["abd abc"] * len(campaign.systems["S0"])
    statistics = TBLEU(tok="none", eps=eps, order=order).segment_statistics(batch_of(campaign, variable))
    expected = [
        [
            row(line.split(), [one.split() for one in of_segment if one or not variable], eps, order)
            for line, *of_segment in zip(lines, *campaign.references.values(), strict=True)
        ]
        for lines in campaign.systems.values()
    ]
    assert statistics.tolist() == expected


@settings(max_examples=100, deadline=None)
@given(campaigns(), st.sampled_from(["exp", "none", "floor", "add-k"]))
def test_with_epsilon_0_it_is_bleu(campaign, smooth):
    segments = batch_of(campaign)
    tbleu, bleu = TBLEU.from_texts({"eps": "0", "smooth": smooth}), BLEU.from_texts({"smooth": smooth})
    statistics, expected = tbleu.segment_statistics(segments), bleu.segment_statistics(segments)
    assert statistics.tobytes() == expected.tobytes()
    assert tbleu.columns == bleu.columns
    assert tbleu.score(statistics).tobytes() == bleu.score(expected).tobytes()
    assert tbleu.segment_score(statistics).tobytes() == bleu.segment_score(expected).tobytes()


def test_with_epsilon_0_it_is_bleu_on_real_data(real_data):
    segments = batch_of(read_campaign(real_data / "wmt22.en-cs"))
    expected = BLEU().segment_statistics(segments)
    assert TBLEU(eps=0.0).segment_statistics(segments).tobytes() == expected.tobytes()
    tolerant = TBLEU(eps=0.3).segment_statistics(segments)
    assert (tolerant[..., 2:6].sum(axis=1) > expected[..., 2:6].sum(axis=1)).all()


def test_the_example_of_the_paper():
    """Figure 1: distances 0, 1/3, 1/6 and 2/3 and a word too many.

    Its printed sum of unigrams leaves out the equal word; the definition gives 17/30.
    """
    hypothesis, reference = "Jedu s novém červeném auto", "Jedu novým červeným autem"
    distances = [affix_distance(a, b) for a, b in zip(hypothesis.split()[2:], reference.split()[1:], strict=True)]
    assert [float(d) for d in distances] == pytest.approx([1 / 3, 1 / 6, 2 / 3])
    segments = Segments(references=[reference.encode()], hypotheses=[hypothesis.encode()])
    ((statistics,),) = TBLEU(eps=0.67).segment_statistics(segments)
    matches, totals = statistics[2:6], statistics[6:]
    assert totals.tolist() == [5, 4, 3, 2]
    assert matches / totals == pytest.approx([17 / 30, 1 / 3, (2 / 3 + 5 / 6 + 1 / 3) / 3 / 3, 0], abs=1e-7)
    ((strict,),) = TBLEU(eps=0.66).segment_statistics(segments)
    assert strict[2] == pytest.approx(1 + 2 / 3 + 5 / 6, abs=1e-7)
    ((bleu,),) = BLEU().segment_statistics(segments)
    assert bleu[2] / bleu[6] == 1 / 5


@pytest.mark.parametrize(
    ("hypothesis", "references", "eps", "unigrams"),
    [
        ("abcd", ["abce"], 1 / 3, 2 / 3),  # "at most", not "less than"
        ("abcd", ["abce"], 0.33, 0),
        ("x", ["y"], 1.0, 0),  # corrected, and worth nothing
        ("abcd abcf", ["abce"], 0.5, 2 / 3),  # only one of them is paired
        ("abce abcd", ["abce abce"], 0.5, 1 + 2 / 3),
        # Each word has its best in another reference.
        ("abcd wxyz", ["abce q", "wxya q"], 0.5, 4 / 3),
        ("abcd abcd", ["abcd q", "abce abce"], 0.5, 4 / 3),  # both occurrences together, for one reference
    ],
)
def test_single_matches(hypothesis, references, eps, unigrams):
    segments = Segments(references=[text.encode() for text in references], hypotheses=[hypothesis.encode()])
    ((statistics,),) = TBLEU(eps=eps).segment_statistics(segments)
    assert statistics[2] == pytest.approx(unigrams, abs=1e-7)


@pytest.mark.parametrize(
    ("hypothesis", "bigrams"),
    [("abcd x abceg x", 7 / 8 + 7 / 8), ("abceg x abcd x", 7 / 8 + 5 / 6), ("abcd x abce x", 1 + 1)],
)
def test_the_heaviest_count_where_the_reference_has_fewer(hypothesis, bigrams):
    """Two words become "abce", with the weights 2/3 (abcd) and 3/4 (abceg); "abce x" is there once."""
    ((statistics,),) = TBLEU(eps=0.5).segment_statistics(
        Segments(references=[b"abce x abce y"], hypotheses=[hypothesis.encode()])
    )
    assert statistics[3] == pytest.approx(bigrams, abs=1e-7)


def test_of_equally_heavy_ones_the_first_counts():
    """All texts of four words, two of which become "abce" with one weight, against two references that have fewer.

    Where another reference has one of them as it is, it matters which one the first reference has credited.
    """
    cells = list(
        product(
            product(("abcd", "abcf", "x"), repeat=4),
            product(("abce", "x"), repeat=3),
            [("abcd", "x"), ("abcf", "x"), ("x", "abcd")],
        )
    )
    texts = ["\n".join(map(" ".join, column)).encode() for column in zip(*cells, strict=True)]
    segments = Segments(references=texts[1:], hypotheses=texts[:1])
    statistics = TBLEU(tok="none", eps=0.5, order=(1, 2)).segment_statistics(segments)
    assert statistics[0].tolist() == [row(own, theirs, 0.5, (1, 2)) for own, *theirs in cells]


def test_a_sweep_of_epsilon_aligns_once(monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return kernel.alignments(*arguments)

    monkeypatch.setattr("steelyard.metrics.alignment.tbleu.alignments", counted)
    segments = Segments(references=[joined(["abcd efgh", "x"])], hypotheses=[joined(["abce efgi", "y"])])
    sums = [TBLEU(eps=eps).segment_statistics(segments)[0, :, 2].sum() for eps in EPSILONS]
    assert len(calls) == 1
    assert sums == sorted(sums)
    assert sums[0] == 0
    assert sums[-1] > 1
    TBLEU(case="lc").segment_statistics(segments)
    assert len(calls) == 2


def test_long_and_repetitive_segments():
    texts = [b"abc " * 60_000 + b"abd " * 7, b"abc abd abe " * 20_000]
    statistics = TBLEU(eps=0.5).segment_statistics(Segments(references=texts[:1], hypotheses=texts))
    totals = [60_007 - n for n in range(4)]
    assert statistics[0, 0].tolist() == [60_007, 60_007, *totals, *totals]
    assert np.isfinite(statistics).all()
    assert (statistics[1, 0, 2:6] <= statistics[1, 0, 6:]).all()


@pytest.mark.parametrize("text", ["-0.1", "1.01", "nan", "x"])
def test_epsilons_that_are_not_allowed(text):
    with pytest.raises(BadParameter, match="tbleu: eps"):
        TBLEU.from_texts({"eps": text})


def test_what_it_says_of_itself():
    metric = TBLEU.from_texts({"eps": "0.1", "order": "1-2"})
    assert (TBLEU().title, metric.title) == ("tBLEU", "tBLEU[1-2][eps=0.1]")
    assert metric.columns == ("hyp_len", "ref_len", "match_1", "match_2", "total_1", "total_2")
    assert metric.signature(1).endswith("|order:1-2|eps:0.1")
    assert parse_metric(metric.specification) == metric
