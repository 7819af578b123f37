"""PER against its definition by counters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from steelyard.metrics.edit.per import PER
from steelyard.metrics.edit.wer import WER
from steelyard.metrics.segments import Segments
from tests.library.campaigns import campaigns, read_campaign
from tests.library.unigram_definitions import batch_of, error_rate, one_segment, per_row, rows


def test_equals_the_definition_on_real_data(real_data):
    campaign = read_campaign(real_data / "wmt22.en-cs")
    tokenize = Tokenizer13a()
    expected = rows(per_row, campaign, lambda line: tokenize(line).split())
    assert PER().segment_statistics(batch_of(campaign)).tolist() == expected


@settings(max_examples=100, deadline=None)
@given(campaigns())
def test_equals_the_definition(campaign):
    metric = PER(tok="none")
    statistics = metric.segment_statistics(batch_of(campaign))
    assert statistics.tolist() == rows(per_row, campaign)
    totals = statistics.sum(axis=1)
    assert metric.score(totals) == pytest.approx([error_rate(*total) for total in totals.tolist()], rel=1e-12)
    # Without regard to order there is never more to do.
    assert (statistics[..., 0] <= WER(tok="none").segment_statistics(batch_of(campaign))[..., 0]).all()


@settings(max_examples=60, deadline=None)
@given(campaigns())
def test_references_that_some_segments_lack(campaign):
    campaign.references["always"] = ["there"] * len(campaign.systems["S0"])
    statistics = PER(tok="none").segment_statistics(batch_of(campaign, variable=True))
    assert statistics.tolist() == rows(per_row, campaign, variable=True)


@pytest.mark.parametrize(
    ("hypothesis", "references", "row", "score"),
    [
        ("c b a", ["a b c"], [0, 3], 0),
        ("a a a", ["a"], [2, 1], 200),
        ("a", ["a a a"], [2, 3], 200 / 3),
        ("", ["a b"], [2, 2], 100),
        ("a b", [""], [2, 0], 100),
        ("", [""], [0, 0], 0),
        ("a b", ["a b c", "b"], [1, 1], 100),
        ("a b", ["x y", "a b c"], [1, 3], 100 / 3),
    ],
)
def test_single_segments(hypothesis, references, row, score):
    metric = PER()
    statistics = metric.segment_statistics(one_segment(hypothesis, references))
    assert statistics.tolist() == [[row]]
    assert metric.score(statistics[0, 0]) == pytest.approx(score, rel=1e-12)


def test_the_longer_side_is_chosen_segment_by_segment():
    """Over both segments together the sides are equally long, which would give 0 edits."""
    statistics = PER().segment_statistics(Segments(references=[b"a a\na"], hypotheses=[b"a\na a"]))
    assert statistics.tolist() == [[[1, 2], [1, 1]]]
    assert PER().score(statistics.sum(axis=1)) == pytest.approx(np.array([200 / 3]))


def test_what_it_says_of_itself():
    metric = PER(tok="intl")
    assert (metric.title, metric.columns, metric.higher_is_better) == ("PER", ("edits", "ref_len"), False)
    assert metric.signature(2).startswith("nrefs:2|case:mixed|tok:intl|version:")
