"""Signatures that somebody printed, and the metrics that they stand for."""

from types import SimpleNamespace

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from steelyard.commands.verification.printed_signatures import name_of, parse_signature
from steelyard.errors import BadParameter, MetricsError, UnknownMetric
from steelyard.metrics.metric import VERSION
from steelyard.metrics.registry import all_metrics, parse_metric

REFERENCES = [["the cat sat on the mat .", "a dog ran"]]
EXAMPLES = [
    pytest.param(cls, parameters, id=":".join([cls.name, *filter(None, [parameters])]))
    for cls in all_metrics()
    for parameters in cls.examples
]


@pytest.mark.parametrize(("cls", "parameters"), EXAMPLES)
def test_the_signature_of_every_metric_leads_back_to_it(cls, parameters):
    metric = parse_metric(":".join(filter(None, [cls.name, parameters])))
    signature = parse_signature(f"{metric.title}|{metric.signature(2, 1000, 7)} = 12.5")
    assert signature.metric() == metric
    assert (signature.references, signature.replicates, signature.fields["seed"]) == (2, 1000, "7")
    assert (signature.ours, signature.score) == (True, "12.5")


OF_SACREBLEU = [
    (sacrebleu.BLEU, {}, "bleu"),
    (sacrebleu.BLEU, {"lowercase": True, "tokenize": "intl", "smooth_method": "floor", "smooth_value": 0.2},
     "bleu:case=lc:tok=intl:smooth=floor[0.20]"),
    (sacrebleu.BLEU, {"tokenize": "zh", "effective_order": True}, "bleu:eff=yes:tok=zh"),
    (sacrebleu.CHRF, {}, "chrf"),
    (sacrebleu.CHRF, {"word_order": 2, "beta": 3, "whitespace": True}, "chrf:nw=2:beta=3:space=yes"),
    (sacrebleu.CHRF, {"char_order": 4, "eps_smoothing": True, "lowercase": True}, "chrf:nc=4:eff=no:case=lc"),
    (sacrebleu.TER, {}, "ter"),
    (sacrebleu.TER, {"normalized": True, "no_punct": True, "asian_support": True, "case_sensitive": True},
     "ter:norm=yes:punct=no:asian=yes:case=mixed"),
]  # fmt: skip


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize(("cls", "arguments", "ours"), OF_SACREBLEU)
def test_sacrebleus_signatures_long_and_short(cls, arguments, ours, short):
    theirs = cls(references=REFERENCES, **arguments)
    score = theirs.corpus_score(["the cat sat on a mat .", "a dog ran"], None)
    text = score.format(signature=theirs.get_signature().format(short), width=3)
    signature = parse_signature(text)
    assert signature.metric() == parse_metric(ours)
    assert (signature.ours, signature.references, signature.score) == (False, 1, f"{score.score:.3f}")
    if not short:
        again = parse_signature(theirs.get_signature().format(), score.name)
        assert again.metric() == parse_metric(ours)


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("BLEU+case.mixed+lang.en-de+numrefs.1+smooth.exp+test.wmt14/full+tok.13a+version.1.2.10 = 26.98", "bleu"),
        ("BLEU+case.lc+numrefs.2+smooth.none+tok.intl+version.1.5.1", "bleu:case=lc:smooth=none:tok=intl"),
        ("chrF2+lang.en-cs+numchars.6+space.False+version.1.5.1 = 0.55", "chrf"),
        ("TER+tok.tercom-nonorm-punct-noasian-uncased+version.1.5.1 = 0.5", "ter"),
        ("TER+tok.tercom-norm-nopunct-asian-cased+version.1.5.1", "ter:norm=yes:punct=no:asian=yes:case=mixed"),
    ],
)
def test_signatures_of_its_first_releases(text, ours):
    assert parse_signature(text).metric() == parse_metric(ours)


@pytest.mark.parametrize(
    ("title", "name"),
    [("F-measure", "fmeasure"), ("Meteor[exact]", "meteor"), ("chrF2++", "chrf"), ("BLEU (tok=zh)", "bleu"),
     ("BLEU_modif", "bleu_modif"), ("CharacTER", "character"), ("bleu", "bleu")],
)  # fmt: skip
def test_titles(title, name):
    assert name_of(title) == name


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("BLEU", BadParameter, "neither a file nor a signature"),
        ("BLEU|case", BadParameter, "neither a file nor a signature"),
        ("nrefs:1|case:mixed", UnknownMetric, "this one has none. Write it in front"),
        ("BLUE|nrefs:1", UnknownMetric, 'no metric "BLUE"'),
        ("BLEU|nrefs:1|colour:red", BadParameter, 'no parameter "colour"'),
        ("BLEU|nrefs:1|tok:14b", BadParameter, "14b"),
        ("BLEU|nrefs:1 = high", BadParameter, "begins with no score"),
    ],
)
def test_what_is_no_signature(text, error, says):
    with pytest.raises(error, match=says):
        parse_signature(text).metric()


@given(st.text(max_size=60))
def test_any_text_is_a_signature_or_an_error(text):
    try:
        found = parse_signature(text).metric()
    except MetricsError:
        return
    assert parse_signature(f"{found.title}|{found.signature(1)}").metric() == found


def test_a_version_is_no_parameter():
    fields = parse_signature(f"BLEU|nrefs:var|version:steelyard-{VERSION}|changed:steelyard.x|dict:ipadic")
    assert fields.references is None
    assert fields.metric() == parse_metric("bleu")


def test_a_metric_of_another_distribution_may_have_digits_in_its_name(monkeypatch):
    """A title may go on with digits, as chrF2++ does, and a name, too."""
    offers = [SimpleNamespace(name=name) for name in ("gist", "gist2", "far_off")]
    monkeypatch.setattr("steelyard.metrics.entry_points.offers", lambda: offers)
    assert [name_of(title) for title in ("gist", "GIST", "gist9", "far-off", "Far_Off2")] == [
        *("gist", "gist", "gist", "far_off", "far_off"),
    ]
    offers.pop(0)
    assert name_of("gist2") == "gist2"
    with pytest.raises(UnknownMetric, match="Did you mean"):
        name_of("gisl2")
