"""How parameters are given: as specifications, as values in Python, and by sacreBLEU's names."""

import numpy as np
import pytest
from sacrebleu.metrics import BLEU as SacreBLEU
from sacrebleu.metrics import CHRF as SacreCHRF
from sacrebleu.metrics import TER as SacreTER

from steelyard import BLEU, NIST, TER, ChrF, LeBLEU, Meteor
from steelyard.errors import BadParameter, UnknownMetric
from steelyard.metrics.registry import all_metrics, asked_metrics, parse_metric, parse_metrics

ALIASES = {
    "bleu:lowercase=true": "bleu:case=lc",
    "bleu:lowercase=no": "bleu",
    "bleu:tokenize=intl": "bleu:tok=intl",
    "bleu:smooth_method=floor": "bleu:smooth=floor[0.10]",
    "bleu:smooth_method=floor:smooth_value=0.25": "bleu:smooth=floor[0.25]",
    "bleu:smooth_value=2:smooth_method=add-k": "bleu:smooth=add-k[2.00]",
    "bleu:smooth_value=2": "bleu",
    "bleu:smooth_method=none:smooth_value=2": "bleu:smooth=none",
    "bleu:max_ngram_order=4": "bleu",
    "bleu:max_ngram_order=2": "bleu:order=1-2",
    "bleu:effective_order=yes": "bleu:eff=yes",
    "tbleu:max_ngram_order=2:smooth_method=none": "tbleu:smooth=none:order=1-2",
    "nist:max_ngram_order=3": "nist:order=1-3",
    "lebleu:max_ngram_order=3": "lebleu:order=3",
    "chrf:char_order=5:word_order=2": "chrf:nc=5:nw=2",
    "chrf:eps_smoothing=yes:whitespace=yes": "chrf:eff=no:space=yes",
    "chrf++:eps_smoothing=True": "chrf:eff=no:nw=2",
    "ter:case_sensitive=yes": "ter:case=mixed",
    "ter:normalized=yes:no_punct=yes:asian_support=yes": "ter:norm=yes:punct=no:asian=yes",
    "wer:lowercase=yes:tokenize=zh": "wer:case=lc:tok=zh",
}


@pytest.mark.parametrize("given", ALIASES)
def test_sacrebleus_names_are_aliases(given):
    metric = parse_metric(given)
    assert metric == parse_metric(ALIASES[given])
    assert metric.specification == ALIASES[given]
    name, *pairs = given.split(":")
    if name != "chrf++":
        texts = dict(pair.split("=") for pair in pairs)
        assert type(metric)(**texts) == type(metric).from_texts(texts) == metric


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (SacreBLEU, BLEU(smooth_method="exp", smooth_value=None, tokenize=None, lowercase=False, max_ngram_order=4)),
        (SacreCHRF, ChrF(char_order=6, word_order=0, beta=2, lowercase=False, whitespace=False, eps_smoothing=False)),
        (SacreTER, TER(normalized=False, no_punct=False, asian_support=False, case_sensitive=False)),
    ],
)
def test_sacrebleus_defaults_are_ours(theirs, ours):
    assert ours == type(ours)()
    metric = theirs()
    metric.corpus_score(["a"], [["a"]])
    assert ours.signature(1).split("|version:")[0] == str(metric.get_signature()).split("|version:")[0]


@pytest.mark.parametrize(
    "given",
    [
        "bleu:lowercase=yes:case=lc",
        "bleu:lowercase=no:case_sensitive=yes",
        "bleu:tok=13a:tokenize=13a",
        "bleu:smooth=exp:smooth_value=1",
        "bleu:smooth_method=exp:smooth=exp",
        "bleu:order=1-4:max_ngram_order=4",
        "chrf:nc=6:char_order=6",
        "chrf++:word_order=2",
        "ter:punct=no:no_punct=yes",
    ],
)
def test_an_alias_beside_what_it_stands_for_is_refused(given):
    with pytest.raises(BadParameter, match="are the same parameter"):
        parse_metric(given)


def test_an_alias_beside_what_it_stands_for_is_refused_in_python_too():
    with pytest.raises(BadParameter, match="lowercase and case are the same parameter"):
        BLEU(case="lc", lowercase=True)
    with pytest.raises(TypeError):
        BLEU("lc", lowercase=True)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("bleu:lowercase=maybe", 'lowercase="maybe": is yes or no'),
        ("bleu:max_ngram_order=17", "is a whole number from 0 to 16"),
        ("bleu:max_ngram_order=0", "orders go from 1 to 16"),
        ("bleu:smooth_method=floor:smooth_value=-1", "is a number from 0"),
        ("bleu:smooth_method=chen", "is none, exp, floor"),
        ("chrf:char_order=65", "is a whole number from 0 to 64"),
        ("chrf:nc=-1", "is a whole number from 0 to 64"),
        ("chrf:nc=\u0663", "is a whole number from 0 to 64"),
        ("chrf:nc=\u00b2", "is a whole number from 0 to 64"),
        ("chrf:beta=1000.5", "is a number from 0 to 1000"),
        ("chrf:beta=nan", "is a number from 0 to 1000"),
        ("bleu:order=\u0661", "is a list of numbers"),
        ("bleu:tok", "is not of the form key=value"),
        ("ter:tokenize=moses", "must be one of none, tercom"),
        ("ter:whitespace=yes", 'ter has no parameter "whitespace"'),
        ("wer:max_ngram_order=4", 'wer has no parameter "max_ngram_order"'),
    ],
)
def test_bad_values_of_aliases_are_refused(given, reason):
    with pytest.raises(BadParameter) as caught:
        parse_metric(given)
    assert reason in str(caught.value)


@pytest.mark.parametrize("given", ["bleu:order=1:order=2", "bleu:order=1:order=1", "chrf++:nw=0", "bleu:tok=zh:tok=zh"])
def test_a_parameter_given_twice_is_refused(given):
    with pytest.raises(BadParameter, match="is given twice"):
        parse_metric(given)


def test_an_alias_that_is_none_is_not_given():
    """As in sacreBLEU, where programs hand on what nobody has chosen."""
    assert BLEU(lowercase=None, tokenize=None, tok="zh") == BLEU(tok="zh")
    assert TER(case_sensitive=None) == TER()


def test_an_alias_comes_before_a_default():
    assert parse_metric("bleu:lowercase=no", {"case": "lc"}) == BLEU()
    assert parse_metric("bleu:tokenize=zh", {"tok": "intl"}) == BLEU(tok="zh")
    assert parse_metric("bleu", {"case": "lc"}) == BLEU(case="lc")


def test_defaults_are_for_metrics_that_have_and_allow_them():
    given = ["bleu", "bleu:tok=intl:case=mixed", "ter", "chrf", "lebleu:tok=char"]
    assert [parse_metric(each, {"tok": "zh", "case": "lc", "gone": "1"}).specification for each in given] == [
        "bleu:case=lc:tok=zh",
        "bleu:tok=intl",
        "ter",
        "chrf:case=lc",
        "lebleu:case=lc:tok=char",
    ]
    assert parse_metric("ter", {"tok": "13a", "case": "mixed"}).specification == "ter:case=mixed"
    assert parse_metric("bleu", {"tok": "tercom", "case": "upper"}) == BLEU(), "no tokenizer of BLEU, no case at all"
    assert parse_metric("nist", {"order": "1-2"}) == NIST(order=(1, 2))


def test_the_target_language_chooses_where_no_tokenizer_is_named():
    given = ["bleu", "bleu:tok=13a", "nist:case=lc", "ter", "chrf", "lebleu"]
    found = asked_metrics(given)
    assert [each.specification for each in found] == ["bleu:tok=auto", "bleu", "nist:case=lc:tok=auto", *given[3:]]
    assert asked_metrics(["bleu"], {"tok": "zh"}) == [BLEU(tok="zh")], "one default for all is named, too"


def test_no_metric_is_named_twice():
    assert [each.specification for each in parse_metrics(["bleu", "ter", "bleu:case=lc"])] == [
        *["bleu", "ter", "bleu:case=lc"]
    ]
    with pytest.raises(BadParameter, match='The metric "bleu" is named twice'):
        parse_metrics(["bleu", "ter", "bleu:tok=13a"])


def test_an_unknown_name_is_reported_with_the_names_there_are():
    with pytest.raises(UnknownMetric, match=r'no metric "blue"\. Did you mean "bleu"\? Metrics: .*chrf\+\+.*ter.*wer'):
        parse_metric("blue")
    with pytest.raises(UnknownMetric, match=r'no metric "qqqqq"\. Metrics:'):
        parse_metric("qqqqq")
    assert parse_metric(" BLEU ") == BLEU()


@pytest.mark.parametrize(
    ("given", "specification"),
    [
        (lambda: BLEU(order=4), "bleu"),
        (lambda: BLEU(order=np.int64(2)), "bleu:order=1-2"),
        (lambda: BLEU(order=[1, 2]), "bleu:order=1-2"),
        (lambda: BLEU(order=(5, 1, 3)), "bleu:order=1,3,5"),
        (lambda: BLEU(order=range(1, 3)), "bleu:order=1-2"),
        (lambda: BLEU(order="4"), "bleu:order=4"),
        (lambda: BLEU(smooth="floor"), "bleu:smooth=floor[0.10]"),
        (lambda: BLEU(smooth="add-k[2]"), "bleu:smooth=add-k[2.00]"),
        (lambda: BLEU(smooth="floor[1e-05]"), "bleu:smooth=floor[1e-05]"),
        (lambda: BLEU(eff=np.True_), "bleu:eff=yes"),
        (lambda: NIST(order=3), "nist:order=1-3"),
        (lambda: LeBLEU(order=3), "lebleu:order=3"),
        (lambda: ChrF(nc=np.int64(5), beta=3), "chrf:nc=5:beta=3"),
        (lambda: Meteor(modules=["stem", "exact"]), "meteor:modules=stem,exact"),
    ],
)
def test_natural_values_are_taken(given, specification):
    metric = given()
    assert metric.specification == specification
    assert parse_metric(specification) == metric
    assert hash(parse_metric(specification)) == hash(metric)


def test_a_specification_means_the_order_alone():
    assert parse_metric("bleu:order=4").order == (4,)
    assert BLEU(order=4).order == (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        (lambda: BLEU(order=0), "is a list of numbers"),
        (lambda: BLEU(order=17), "orders go from 1 to 16"),
        (lambda: BLEU(order=True), "n-gram orders"),
        (lambda: BLEU(order=2.0), "n-gram orders"),
        (lambda: BLEU(order=[]), "is a list of numbers"),
        (lambda: BLEU(order=["a"]), "is a list of numbers"),
        (lambda: BLEU(smooth="chen"), "is none, exp, floor"),
        (lambda: BLEU(smooth=0.1), "is none, exp, floor"),
        (lambda: BLEU(case=True), "mixed, lc"),
        (lambda: BLEU(tok="moses"), "13a, none"),
        (lambda: BLEU(eff=2), "leave out the orders"),
        (lambda: ChrF(nc=6.0), "whole number from 0 to 64"),
        (lambda: ChrF(beta="two"), "number from 0 to 1000"),
        (lambda: Meteor(modules=["exact", 1]), "what links words"),
    ],
)
def test_wrong_values_are_refused_with_what_is_allowed(given, allowed):
    with pytest.raises(BadParameter, match=allowed):
        given()


def test_no_alias_is_the_name_of_something_else():
    for metric in all_metrics():
        fields = metric.parameters()
        names = [name for field in fields for alias in field.metadata["aliases"] for name in alias.names]
        assert len({*names, *(field.name for field in fields)}) == len(names) + len(fields)
