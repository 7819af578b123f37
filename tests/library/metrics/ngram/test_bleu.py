"""BLEU against sacreBLEU, and where sacreBLEU has no number, against the definition."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU as SacreBLEU

from steelyard import BLEU
from steelyard.errors import BadParameter
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.segments import Segments
from tests.library.campaigns import Campaign, campaigns, joined, read_campaign

SETTINGS = {
    "bleu": {},
    "bleu:case=lc": {"lowercase": True},
    "bleu:tok=none": {"tokenize": "none"},
    "bleu:tok=intl": {"tokenize": "intl"},
    "bleu:tok=char": {"tokenize": "char"},
    "bleu:tok=zh": {"tokenize": "zh"},
    "bleu:smooth=none": {"smooth_method": "none"},
    "bleu:smooth=floor": {"smooth_method": "floor"},
    "bleu:smooth=floor[0.25]": {"smooth_method": "floor", "smooth_value": 0.25},
    "bleu:smooth=add-k": {"smooth_method": "add-k"},
    "bleu:smooth=add-k[0.5]:order=1-6": {"smooth_method": "add-k", "smooth_value": 0.5, "max_ngram_order": 6},
    "bleu:order=1-2:eff=yes": {"max_ngram_order": 2, "effective_order": True},
}


def statistics_of(metric, campaign: Campaign) -> np.ndarray:
    segments = Segments(
        references=[joined(r) for r in campaign.references.values()],
        hypotheses=[joined(s) for s in campaign.systems.values()],
    )
    return metric.segment_statistics(segments)


@pytest.mark.few(4)
@pytest.mark.parametrize("specification", SETTINGS)
@settings(deadline=None, max_examples=80)
@given(campaign=campaigns())
def test_equals_sacrebleu_on_anything(specification, campaign):
    metric = parse_metric(specification)
    statistics = statistics_of(metric, campaign)
    references = list(campaign.references.values())
    corpus = SacreBLEU(force=True, **SETTINGS[specification])
    single = SacreBLEU(force=True, **{**SETTINGS[specification], "effective_order": True})
    for ours, lines in zip(statistics, campaign.systems.values(), strict=True):
        theirs = corpus.corpus_score(lines, references)
        assert metric.score(ours.sum(axis=0)) == pytest.approx(theirs.score, rel=1e-12, abs=1e-12)
        shown = metric.details(ours.sum(axis=0))
        assert list(shown) == ["BP", "ratio", *(f"p_{n}" for n in metric.order)]
        expected = [theirs.bp, theirs.ratio, *theirs.precisions]
        assert list(shown.values()) == pytest.approx(expected, rel=1e-12, abs=1e-12)
        for row, line, *of_segment in zip(ours, lines, *references, strict=True):
            theirs = single.sentence_score(line, of_segment).score
            assert metric.segment_score(row) == pytest.approx(theirs, rel=1e-12, abs=1e-12)


@settings(deadline=None, max_examples=400)
@given(
    campaign=campaigns(max_segments=3),
    method=st.sampled_from(["none", "floor", "add-k", "exp"]),
    value=st.sampled_from([None, 0, 1e-9, 0.25, 1, 3.125]),
    order=st.integers(1, 8),
    effective=st.booleans(),
    lowercase=st.booleans(),
    tokenize=st.sampled_from(["13a", "none", "intl", "char", "zh"]),
)
def test_every_combination_of_sacrebleus_arguments_gives_its_number(
    campaign, method, value, order, effective, lowercase, tokenize
):
    """By its own names, in Python and as a specification."""
    arguments = {
        "smooth_method": method, "smooth_value": value, "max_ngram_order": order, "effective_order": effective,
        "lowercase": lowercase, "tokenize": tokenize,
    }  # fmt: skip
    metric = BLEU(**arguments)
    written = ":".join(f"{key}={value}" for key, value in arguments.items() if value is not None)
    assert parse_metric(f"bleu:{written}") == parse_metric(metric.specification) == metric
    references = list(campaign.references.values())
    theirs = SacreBLEU(force=True, **arguments)
    for ours, lines in zip(statistics_of(metric, campaign), campaign.systems.values(), strict=True):
        score = theirs.corpus_score(lines, references).score
        assert metric.score(ours.sum(axis=0)) == pytest.approx(score, rel=1e-12, abs=1e-12)
    # Its signature has two digits of a value, so that it is not compared where there are more.
    if value is None or round(value, 2) == value:
        theirs = [part for part in str(theirs.get_signature()).split("|") if not part.startswith("version:")]
        assert metric.signature(len(references)).split("|version:")[0] == "|".join(theirs)


@pytest.mark.few(8)
@pytest.mark.parametrize("specification", SETTINGS)
@pytest.mark.parametrize("labels", ["B", "BC"])
def test_equals_sacrebleu_on_real_data(real_data, specification, labels):
    campaign = read_campaign(real_data / "wmt22.en-cs")
    campaign.references = {label: campaign.references[label] for label in labels}
    campaign.systems = dict(list(campaign.systems.items())[:2])
    references = list(campaign.references.values())
    metric = parse_metric(specification)
    statistics = statistics_of(metric, campaign)
    theirs = SacreBLEU(references=references, **SETTINGS[specification])
    for ours, lines in zip(statistics, campaign.systems.values(), strict=True):
        rows = theirs._extract_corpus_statistics(lines, None)
        assert np.array_equal(ours, np.array(rows))
        corpus = theirs._aggregate_and_compute(rows).score
        assert metric.score(ours.sum(axis=0)) == pytest.approx(corpus, rel=1e-12)


def by_definition(orders: tuple[int, ...], campaign: Campaign, system: str) -> float:
    """BLEU as Papineni et al. write it, for any set of orders, without smoothing."""
    lengths = [0, 0]
    matches, totals = Counter(), Counter()
    for hypothesis, *references in zip(campaign.systems[system], *campaign.references.values(), strict=True):
        words, others = hypothesis.split(), [reference.split() for reference in references]
        lengths[0] += len(words)
        lengths[1] += min((abs(len(other) - len(words)), len(other)) for other in others)[1]
        for n in orders:
            grams = Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
            most = Counter()
            for other in others:
                most |= Counter(tuple(other[i : i + n]) for i in range(len(other) - n + 1))
            matches[n] += sum((grams & most).values())
            totals[n] += sum(grams.values())
    if not all(matches[n] for n in orders):
        return 0.0
    mean = sum(math.log(matches[n] / totals[n]) for n in orders) / len(orders)
    return 100 * math.exp(min(0.0, 1 - lengths[1] / lengths[0]) + mean)


@pytest.mark.parametrize(
    ("text", "orders"), [("3,1,5", (1, 3, 5)), ("1,2", (1, 2)), ("2", (2,)), ("1-3,7", (1, 2, 3, 7))]
)
@settings(deadline=None, max_examples=60)
@given(campaign=campaigns())
def test_any_set_of_orders(text, orders, campaign):
    metric = parse_metric(f"bleu:order={text}:tok=none:smooth=none")
    assert metric.order == orders
    for system, statistics in zip(campaign.systems, statistics_of(metric, campaign), strict=True):
        assert metric.score(statistics.sum(axis=0)) == pytest.approx(by_definition(orders, campaign, system))


def test_worked_example_of_clipping():
    """Papineni et al. 2002, section 2.1: "the" seven times against two references has precision 2/7."""
    segments = Segments(
        references=[b"The cat is on the mat", b"There is a cat on the mat"],
        hypotheses=[b"the the the the the the the"],
    )
    metric = parse_metric("bleu:case=lc:order=1")
    columns = dict(zip(metric.columns, metric.segment_statistics(segments)[0, 0], strict=True))
    assert columns == {"hyp_len": 7, "ref_len": 7, "match_1": 2, "total_1": 7}


def test_signature_is_sacrebleus_with_our_fields_behind():
    theirs = SacreBLEU()
    theirs.corpus_score(["a"], [["a"]])
    ours = parse_metric("bleu").signature(1)
    assert ours.split("|version:")[0] == str(theirs.get_signature()).split("|version:")[0]
    assert ours.endswith("|order:1-4")


@pytest.mark.parametrize("orders", ["0", "4-1", "a", "1,,2", "-1", "1-", "99", "", "1--2", "²"])
def test_bad_orders_are_refused(orders):
    with pytest.raises(BadParameter, match="bleu: order="):
        parse_metric(f"bleu:order={orders}")


@pytest.mark.parametrize("smooth", ["chen", "floor[x]", "exp[1]", "add-k[-1]", "floor[0.1"])
def test_bad_smoothing_is_refused(smooth):
    with pytest.raises(BadParameter, match="is none, exp, floor"):
        parse_metric(f"bleu:smooth={smooth}")
