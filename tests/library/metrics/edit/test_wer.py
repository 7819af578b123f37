"""WER against jiwer, and with several references against its definition."""

from __future__ import annotations

import jiwer
import numpy as np
import pytest
from hypothesis import given, settings
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from steelyard.metrics.edit.wer import WER
from steelyard.metrics.segments import Segments
from tests.library.campaigns import campaigns, read_campaign
from tests.library.unigram_definitions import batch_of, error_rate, one_segment, rows, wer_row


@pytest.mark.parametrize("name", ["wmt22.en-cs", "wmt22.de-en", "wmt21.en-cs"])
def test_equals_jiwer_on_real_data(real_data, name):
    campaign = read_campaign(real_data / name)
    label, reference = next(iter(campaign.references.items()))
    campaign.references = {label: reference}
    metric = WER(tok="none")
    statistics = metric.segment_statistics(batch_of(campaign))
    scores, segment_scores = metric.score(statistics.sum(axis=1)), metric.segment_score(statistics)
    # jiwer splits at blanks alone; the texts have tabs and no-break spaces too.
    plain = [" ".join(line.split()) for line in reference]
    for score, of_segments, lines in zip(scores, segment_scores, campaign.systems.values(), strict=True):
        hypotheses = [" ".join(line.split()) for line in lines]
        assert score == pytest.approx(100 * jiwer.wer(plain, hypotheses), rel=1e-12)
        for i in range(0, len(lines), 101):
            assert of_segments[i] == pytest.approx(100 * jiwer.wer(plain[i], hypotheses[i]), rel=1e-12)


def test_several_references_and_the_default_tokenizer_on_real_data(real_data):
    campaign = read_campaign(real_data / "wmt22.en-cs")
    tokenize = Tokenizer13a()
    expected = rows(wer_row, campaign, lambda line: tokenize(line).split())
    assert WER().segment_statistics(batch_of(campaign)).tolist() == expected


@settings(max_examples=100, deadline=None)
@given(campaigns())
def test_equals_the_definition(campaign):
    metric = WER(tok="none")
    statistics = metric.segment_statistics(batch_of(campaign))
    assert statistics.tolist() == rows(wer_row, campaign)
    expected = [[error_rate(*row) for row in system] for system in statistics.tolist()]
    assert metric.segment_score(statistics) == pytest.approx(np.array(expected), rel=1e-12)
    totals = statistics.sum(axis=1)
    assert metric.score(totals) == pytest.approx([error_rate(*total) for total in totals.tolist()], rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(campaigns())
def test_references_that_some_segments_lack(campaign):
    campaign.references["always"] = ["there"] * len(campaign.systems["S0"])
    statistics = WER(tok="none").segment_statistics(batch_of(campaign, variable=True))
    assert statistics.tolist() == rows(wer_row, campaign, variable=True)


@pytest.mark.parametrize(
    ("hypothesis", "references", "row", "score"),
    [
        ("a b c", ["a b c"], [0, 3], 0),
        ("", ["a b"], [2, 2], 100),
        ("a b", [""], [2, 0], 100),
        ("", [""], [0, 0], 0),
        ("a b c d e", ["x"], [5, 1], 500),
        ("b a", ["a b"], [2, 2], 100),
        ("a b c", ["a b c d e", "x y", "a b"], [1, 2], 50),  # the nearest
        ("a b", ["a b c", "b"], [1, 1], 100),  # as near as the first, and shorter
        ("a b", ["b", "a b c"], [1, 1], 100),
    ],
)
def test_single_segments(hypothesis, references, row, score):
    metric = WER()
    statistics = metric.segment_statistics(one_segment(hypothesis, references))
    assert statistics.tolist() == [[row]]
    assert metric.score(statistics[0, 0]) == score


def test_case_is_kept_unless_asked_otherwise():
    segments = Segments(references=[b"The Cat, sat"], hypotheses=[b"the cat , sat"])
    assert WER().segment_statistics(segments).tolist() == [[[2, 4]]]
    assert WER(case="lc").segment_statistics(segments).tolist() == [[[0, 4]]]
    assert WER(case="lc", tok="none").segment_statistics(segments).tolist() == [[[2, 3]]]


def test_what_it_says_of_itself():
    metric = WER(case="lc")
    assert (metric.title, metric.columns, metric.higher_is_better) == ("WER", ("edits", "ref_len"), False)
    assert metric.signature(1).startswith("nrefs:1|case:lc|tok:13a|version:")
    assert metric.specification == "wer:case=lc"
