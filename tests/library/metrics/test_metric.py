"""What every metric inherits: estimated times, signatures, editions."""

import dataclasses

import pytest

from steelyard import BLEU, PER, LeBLEU
from steelyard.errors import BadParameter
from steelyard.metrics.metric import VERSION, edition_name, edition_with
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.segments import Segments


def test_the_estimated_time_grows_from_the_typical_segment_on_as_the_metric_says():
    assert (LeBLEU.growth, PER.growth) == (2.0, 1.0)
    assert LeBLEU.seconds(1) == LeBLEU.seconds(120) == LeBLEU.cost * 1e-6
    assert LeBLEU.seconds(1200) == pytest.approx(LeBLEU.cost * 1e-4)
    assert PER.seconds(1200) == pytest.approx(PER.cost * 1e-5)
    assert LeBLEU.seconds(1200, 3.0) == pytest.approx(3e-4), "another cost was measured"
    assert LeBLEU.longest(LeBLEU.cost * 1e-4) == pytest.approx(1200)
    assert PER.longest(PER.cost * 1e-5) == pytest.approx(1200)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((1,), "nrefs:1"),
        (("var",), "nrefs:var"),
        ((2, 500, 7), "nrefs:2|bs:500|seed:7"),
        ((2, 500, 0), "nrefs:2|bs:500|seed:0"),
        ((2, 0, 7), "nrefs:2"),
    ],
)
def test_a_signature_says_references_and_bootstrap_then_parameters(given, expected):
    metric = LeBLEU(case="lc", order=2)
    rest = f"case:lc|tok:none|version:steelyard-{VERSION}|order:2|threshold:0.4"
    assert metric.signature(*given) == f"{expected}|{rest}"


def test_a_specification_says_what_is_not_the_usual_value():
    assert LeBLEU().specification == "lebleu"
    assert LeBLEU(threshold=0.5, case="lc").specification == "lebleu:case=lc:threshold=0.5"


@pytest.mark.parametrize(("version", "name"), [("15.0.0", "2 (Unicode 15.0)"), ("16.1.3", "2 (Unicode 16.1)")])
def test_an_edition_is_a_release_and_a_version_of_unicode(version, name):
    assert edition_name(edition_with(version)) == name
    assert edition_name(1) == "1"


def test_editions_are_in_order():
    versions = ["9.0.0", "15.0.0", "15.1.0", "16.0.0"]
    assert [*map(edition_with, versions)] == sorted({*map(edition_with, versions)})


@pytest.mark.parametrize("value", ["a b", "a:b", "a|b", "a\x7fb", "\x00"])
def test_no_parameter_holds_what_signatures_are_cut_at(value):
    with pytest.raises(BadParameter, match="cannot hold white space"):
        BLEU(tok=value)


def test_a_parameter_that_is_none_of_the_metrics_is_reported_with_those_that_are():
    with pytest.raises(
        BadParameter, match=r'bleu has no parameter "n"\. Its parameters: case, eff, tok, smooth, order'
    ):
        BLEU.from_texts({"n": "1"})
    assert BLEU.parameter("tok") in dataclasses.fields(BLEU)


def test_metrics_of_one_batch_share_only_what_is_the_same_for_them():
    texts = Segments(references=[b"A b c. a B b, a\nthe Cat", b"a b C\nThe cat."], hypotheses=[b"a B c b a\nthe cat ."])
    names = ("bleu", "tbleu", "chrf:nw=2", "per", "fmeasure", "wer", "ter", "gtm", "lebleu", "meteor:modules=exact")
    metrics = [parse_metric(each) for name in names for each in (name, f"{name}:case={other_case(name)}")]
    metrics += map(
        parse_metric, ("bleu:tok=none", "bleu:order=1", "tbleu:tok=none", "chrf:nc=2:nw=1", "chrf:space=yes")
    )
    shared = texts
    for metric in metrics:
        alone = metric.segment_statistics(texts)
        assert metric.segment_statistics(shared).tobytes() == alone.tobytes(), metric.specification


def other_case(name):
    return "mixed" if type(parse_metric(name))().case == "lc" else "lc"
