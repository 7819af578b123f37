"""GTM against its definition by listing every run, and against the F-measure where they are the same."""

from __future__ import annotations

from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from steelyard.errors import BadParameter
from steelyard.metrics.alignment.fmeasure import FMeasure
from steelyard.metrics.alignment.gtm import GTM, Run
from steelyard.metrics.references.average_length import UNIT
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.segments import Segments
from tests.library.campaigns import Campaign, campaigns, read_campaign
from tests.library.metrics.alignment.gtm_definition import gtm_runs_of
from tests.library.unigram_definitions import batch_of, one_segment

STEP = 2.0**-24


def rows(campaign, e, tokenize=str.split, variable=False):
    """Size, words of the hypothesis and of the average reference: (systems, segments, 3)."""
    result = []
    for lines in campaign.systems.values():
        result.append([])
        for line, *of_segment in zip(lines, *campaign.references.values(), strict=True):
            hypothesis, references = tokenize(line), [tokenize(one) for one in of_segment if one or not variable]
            size = float(sum(float(run) ** e for run, *_ in gtm_runs_of(hypothesis, references))) ** (1 / e)
            result[-1].append((size, len(hypothesis), fmean(map(len, references))))
    return np.array(result)


def average_lengths(statistics):
    return np.stack((statistics[..., 0], statistics[..., 1], statistics[..., 2] + statistics[..., 3] / UNIT), axis=-1)


def definition(size, hypothesis, reference):
    if not size:
        return 0
    precision, recall = size / hypothesis, size / reference
    return 100 * 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("e", [1.0, 2.0])
def test_equals_the_definition_on_real_data(real_data, e):
    whole = read_campaign(real_data / "wmt22.en-cs")
    some = slice(0, 2037, 40)
    campaign = Campaign(
        {label: lines[some] for label, lines in whole.references.items()},
        {name: lines[some] for name, lines in list(whole.systems.items())[:3]},
    )
    tokenize = Tokenizer13a()
    statistics = average_lengths(GTM(e=e).segment_statistics(batch_of(campaign)))
    assert statistics == pytest.approx(rows(campaign, e, lambda line: tokenize(line).split()), rel=0, abs=STEP)


def test_is_the_fmeasure_with_one_reference_and_exponent_1(real_data):
    campaign = read_campaign(real_data / "wmt22.en-cs")
    first, *_ = campaign.references
    segments = batch_of(Campaign({first: campaign.references[first]}, campaign.systems))
    gtm, fmeasure = GTM().segment_statistics(segments), FMeasure().segment_statistics(segments)
    assert np.array_equal(gtm[..., :3], fmeasure)
    assert not gtm[..., 3].any()
    assert np.array_equal(GTM().score(gtm.sum(axis=1)), FMeasure().score(fmeasure.sum(axis=1)))


@settings(max_examples=150, deadline=None)
@given(campaigns(), st.sampled_from([1.0, 1.2, 2.0, 3.0, 32.0]), st.booleans())
def test_equals_the_definition(campaign, e, variable):
    if variable:
        campaign.references["always"] = ["there"] * len(campaign.systems["S0"])
    metric = GTM(tok="none", e=e)
    statistics = metric.segment_statistics(batch_of(campaign, variable=variable))
    expected = rows(campaign, e, variable=variable)
    assert average_lengths(statistics) == pytest.approx(expected, rel=0, abs=STEP)
    totals = [definition(*total) for total in expected.sum(axis=1).tolist()]
    assert metric.score(statistics.sum(axis=1)) == pytest.approx(totals, rel=1e-5)


@pytest.mark.parametrize(
    ("hypothesis", "references", "e", "size", "score"),
    [
        ("a b c", ["a b c"], 2, 3, 100),
        ("c b a", ["a b c"], 1, 3, 100),
        ("c b a", ["a b c"], 2, 3**0.5, 100 * 3**0.5 / 3),
        ("a b x c", ["a b y c"], 2, 5**0.5, 100 * 5**0.5 / 4),
        # "c d e" and "b c d" are as long; the later one leaves "a b" whole.
        ("a b c d e", ["b c d x a b x c d e"], 2, 13**0.5, 100 * 2 * 13**0.5 / 15),
        # A run does not go on into the next reference.
        ("a b c d", ["a b", "c d"], 2, 2, 100 * 2 * 2 / 6),
        # Two and a half words may match: the second run counts for half a word.
        ("a x b y", ["a", "b y q q"], 2, 4.25**0.5, 100 * 2 * 4.25**0.5 / 6.5),
        ("a b c", ["a b c", "d e"], 1, 2.5, 100 * 2 * 2.5 / 5.5),
        ("a b c", ["a b c", "d e"], 2, 2.5, 100 * 2 * 2.5 / 5.5),
        ("", ["a b"], 1, 0, 0),
        ("a b", [""], 1, 0, 0),
        ("", [""], 3, 0, 0),
    ],
)
def test_single_segments(hypothesis, references, e, size, score):
    metric = GTM(e=float(e))
    statistics = metric.segment_statistics(one_segment(hypothesis, references))
    assert statistics[0, 0, 0] == pytest.approx(size, abs=STEP)
    assert metric.score(statistics[0, 0]) == pytest.approx(score, rel=1e-6)


def test_sizes_are_rounded_once_per_segment():
    (statistics,) = GTM(e=2.0).segment_statistics(
        Segments(references=[b"a b\na b\nb c a"], hypotheses=[b"b a\nb a\nb c a"])
    )
    assert statistics[:, 0].tolist() == [round(2**0.5 / STEP) * STEP] * 2 + [3.0]


def check_runs(metric, segments):
    """The runs stand where they say and give the statistic `size` to the bit."""
    statistics, words = metric.segment_statistics(segments), segments.words(metric.tok, metric.case)
    tokens = np.array(words.lines.decode().split("\n"), object)

    def line(text, segment):
        row = text * len(segments) + segment
        return tokens[words.ids[words.starts[row] : words.starts[row + 1]]].tolist()

    for s, of_system in enumerate(metric.runs(segments)):
        for i, runs in enumerate(of_system):
            total = sum(run.size**metric.e for run in runs)
            assert statistics[s, i, 0] == round(total ** (1 / metric.e) / STEP) * STEP
            for run in runs:
                assert segments.reference_mask[run.reference, i]
                for text, place in ((len(segments.references) + s, run.place), (run.reference, run.reference_place)):
                    assert list(run.words) == line(text, i)[place : place + len(run.words)]
                assert len(run.words) - 1 < run.size <= len(run.words)


@settings(max_examples=150, deadline=None)
@given(campaigns(), st.sampled_from([1.0, 2.0, 2.5]), st.booleans())
def test_runs_are_what_was_counted(campaign, e, variable):
    if variable:
        campaign.references["always"] = ["there"] * len(campaign.systems["S0"])
    check_runs(GTM(tok="none", e=e), batch_of(campaign, variable=variable))


def test_runs_are_what_was_counted_on_real_data(real_data):
    campaign = read_campaign(real_data / "wmt22.en-cs")
    two = dict(list(campaign.systems.items())[:2])
    check_runs(GTM(e=1.5, case="lc"), batch_of(Campaign(campaign.references, two)))


def test_runs_of_a_segment():
    """The average reference has 3.5 words: of "a b", only one and a half count."""
    segments = Segments(references=[b"a b x\nc", b"Y c d q\nb"], hypotheses=[b"a b c d\nz"])
    (runs,) = GTM(tok="none", e=2.0).runs(segments)
    assert runs == [[Run(2.0, 2, 1, 1, ("c", "d")), Run(1.5, 0, 0, 0, ("a", "b"))], []]


@pytest.mark.parametrize("text", ["0.5", "0", "-1", "33", "nan", "inf", "x"])
def test_exponents_that_are_not_allowed(text):
    with pytest.raises(BadParameter, match="gtm: e"):
        GTM.from_texts({"e": text})


def test_what_it_says_of_itself():
    metric = GTM.from_texts({"e": "1.5", "case": "lc"})
    assert metric.title == "GTM[e=1.5]"
    assert GTM().title == "GTM"
    assert metric.higher_is_better
    assert metric.signature(2).startswith("nrefs:2|case:lc|tok:13a|version:")
    assert metric.signature(2).endswith("|e:1.5")
    assert parse_metric(metric.specification) == metric
