"""F-measure against its definition by counters."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from steelyard.errors import BadParameter
from steelyard.metrics.alignment.fmeasure import FMeasure
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.segments import Segments
from tests.library.campaigns import campaigns, read_campaign
from tests.library.unigram_definitions import batch_of, fmeasure, fmeasure_row, one_segment, rows


def test_equals_the_definition_on_real_data(real_data):
    campaign = read_campaign(real_data / "wmt22.en-cs")
    tokenize = Tokenizer13a()
    expected = rows(fmeasure_row, campaign, lambda line: tokenize(line).split())
    assert FMeasure().segment_statistics(batch_of(campaign)).tolist() == expected


weights = st.floats(0, 100).filter(lambda weight: not 0 < weight < 1e-6)


@settings(max_examples=100, deadline=None)
@given(campaigns(), weights, weights)
def test_equals_the_definition(campaign, p, r):
    metric = FMeasure(tok="none", p=p, r=r or 1.0)
    statistics = metric.segment_statistics(batch_of(campaign))
    assert statistics.tolist() == rows(fmeasure_row, campaign)
    totals = statistics.sum(axis=1)
    expected = [fmeasure(*total, p=metric.p, r=metric.r) for total in totals.tolist()]
    assert metric.score(totals) == pytest.approx(expected, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(campaigns())
def test_references_that_some_segments_lack(campaign):
    campaign.references["always"] = ["there"] * len(campaign.systems["S0"])
    statistics = FMeasure(tok="none").segment_statistics(batch_of(campaign, variable=True))
    assert statistics.tolist() == rows(fmeasure_row, campaign, variable=True)


@pytest.mark.parametrize(
    ("hypothesis", "references", "row", "score"),
    [
        ("c b a", ["a b c"], [3, 3, 3], 100),
        ("a", ["a b c"], [1, 1, 3], 50),
        ("a a a", ["a"], [1, 3, 1], 50),
        ("", ["a b"], [0, 0, 2], 0),
        ("a b", [""], [0, 2, 0], 0),
        ("", [""], [0, 0, 0], 0),
        ("a b c", ["a", "a b d e f"], [2, 3, 5], 50),  # the one with more words in common, though longer
        ("a b c", ["a b x y", "b c"], [2, 3, 2], 80),  # as many in common, and shorter
    ],
)
def test_single_segments(hypothesis, references, row, score):
    metric = FMeasure()
    statistics = metric.segment_statistics(one_segment(hypothesis, references))
    assert statistics.tolist() == [[row]]
    assert metric.score(statistics[0, 0]) == pytest.approx(score, rel=1e-12)


def test_weights_are_of_precision_and_recall():
    """Precision 1, recall 1/3."""
    (statistics,) = FMeasure().segment_statistics(Segments(references=[b"a b c"], hypotheses=[b"a"]))
    assert FMeasure(r=0.0).score(statistics) == pytest.approx([100])
    assert FMeasure(p=0.0).score(statistics) == pytest.approx([100 / 3])
    assert FMeasure(p=3.0).score(statistics) == pytest.approx([100 * 4 / (3 + 3)])


@pytest.mark.parametrize(
    "values",
    [{"p": "-1"}, {"p": "nan"}, {"r": "inf"}, {"p": "x"}, {"p": "1e7"}, {"p": "0", "r": "0"}, {"beta": "1"}],
)
def test_parameters_that_are_not_allowed(values):
    with pytest.raises(BadParameter, match="fmeasure"):
        FMeasure.from_texts(values)
    if "beta" not in values:
        numbers = {key: float(text) if text != "x" else math.nan for key, text in values.items()}
        with pytest.raises(BadParameter, match="fmeasure"):
            FMeasure(**numbers)


def test_what_it_says_of_itself():
    metric = FMeasure.from_texts({"p": "2", "r": "0.1234567", "case": "lc"})
    assert (metric.title, metric.columns) == ("F-measure", ("match", "hyp_len", "ref_len"))
    assert metric.higher_is_better
    assert metric.signature(1).startswith("nrefs:1|case:lc|tok:13a|version:")
    assert metric.signature(1).endswith("|p:2|r:0.1234567")
    assert parse_metric(metric.specification) == metric
