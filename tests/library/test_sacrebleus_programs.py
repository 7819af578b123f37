"""Programs written for sacreBLEU, with the import changed: the same numbers, texts and signatures."""

import json

import pytest
import sacrebleu
import sacrebleu.metrics
from hypothesis import given, settings
from hypothesis import strategies as st

import steelyard
import steelyard.metrics
from steelyard import BLEU, CHRF, TER, ChrF
from steelyard.errors import BadParameter, BadText

# The example of sacreBLEU's README.
REFS = [
    ["The dog bit the man.", "It was not unexpected.", "The man bit him first."],
    ["The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."],
]
SYS = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]

WORDS = [
    *("the", "dog", "Dog", "man", "man's", "isn't", "it's", "été", "e\u0301", "x-y", "a-", "-b", "9-", "1-2", "A.B."),
    *(".", ",", "'", "`", '"', "“", "…", "—", "--", "/", "\\", "(c)", "[x]", "{y}", "~", "^", "$5", "50%", "5.", ".5"),
    *(
        "3.14",
        "1,000",
        "१.२",
        "&lt;",
        "&amp;",
        "&quot;",
        "&amp;lt;",
        "<skipped>",
        "日本",
        "りの",
        "中文。",
        "，",
        "한국어",
    ),
    *(
        "İ",
        "ß",
        "ſ",
        "ﬁ",
        "ΑΣ",
        "ς",
        "ᾳ",
        "😀",
        "👍🏽",
        "\x00",
        "\x0b",
        "\x1c",
        "\x85",
        "\xa0",
        "\u200b",
        "\u2028",
        "\u3000",
    ),
]
segments = st.lists(st.sampled_from(WORDS), max_size=8).flatmap(
    lambda words: st.sampled_from([" ", " ", "", "  "]).map(lambda between: between.join(words))
)
PARAMETERS = {
    "BLEU": {
        "lowercase": st.booleans(),
        "tokenize": st.sampled_from([None, "none", "13a", "intl", "char", "zh"]),
        "smooth_method": st.sampled_from(["exp", "none", "floor", "add-k"]),
        "smooth_value": st.sampled_from([None, 0, 0.1, 0.5, 1, 2]),
        "max_ngram_order": st.integers(1, 8),
        "effective_order": st.booleans(),
        "force": st.booleans(),
        "trg_lang": st.sampled_from(["", "cs", "zh"]),
    },
    "CHRF": {
        "char_order": st.integers(1, 8),
        "word_order": st.integers(0, 3),
        "beta": st.integers(1, 3),
        "lowercase": st.booleans(),
        "whitespace": st.booleans(),
        "eps_smoothing": st.booleans(),
    },
    "TER": dict.fromkeys(("normalized", "no_punct", "asian_support", "case_sensitive"), st.booleans()),
}


def equal(found, wanted):
    """Two scores, and all that can be read from them."""
    assert found.score == pytest.approx(wanted.score, abs=1e-9)
    # The names differ where orders are not 1 to 4: ours says which.
    assert str(found).partition(" = ")[2] == str(wanted).partition(" = ")[2]
    for name in ("bp", "ratio", "sys_len", "ref_len", "num_edits", "ref_length", "char_order", "word_order", "beta"):
        if hasattr(wanted, name):
            assert getattr(found, name) == pytest.approx(getattr(wanted, name), abs=1e-9)


@pytest.mark.parametrize("name", PARAMETERS)
@settings(max_examples=100)
@given(data=st.data())
def test_any_parameters_and_texts(name, data):
    arguments = data.draw(st.fixed_dictionaries({}, optional=PARAMETERS[name]))
    count = data.draw(st.integers(1, 4))
    first = data.draw(st.lists(segments, min_size=count, max_size=count))
    # A text that is empty beside another that is missing is refused where blanks count.
    some = segments.filter(bool) if arguments.get("whitespace") else segments
    others = data.draw(st.lists(st.lists(st.none() | some, min_size=count, max_size=count), max_size=2))
    if arguments.get("whitespace") and others:
        first = [line or "x" for line in first]
    hypotheses = data.draw(st.lists(segments | st.sampled_from(first), min_size=count, max_size=count))
    theirs, ours = getattr(sacrebleu.metrics, name)(**arguments), getattr(steelyard.metrics, name)(**arguments)
    found, wanted = ours.corpus_score(hypotheses, [first, *others]), theirs.corpus_score(hypotheses, [first, *others])
    equal(found, wanted)
    if name == "BLEU" and arguments.get("smooth_method") != "add-k":
        assert (found.counts, found.totals, found.prec_str) == (wanted.counts, wanted.totals, wanted.prec_str)
    signature = str(theirs.get_signature()).partition("|version:")[0]
    assert ours.get_signature().startswith(f"{signature}|version:steelyard-")
    of_segment = [line for line, *_ in (first, *others) if line is not None]
    equal(ours.sentence_score(hypotheses[0], of_segment), theirs.sentence_score(hypotheses[0], of_segment))


@pytest.mark.parametrize("name", ["corpus", "sentence"])
@pytest.mark.parametrize(
    ("metric", "arguments"),
    [
        ("bleu", {}),
        ("bleu", {"smooth_method": "floor", "smooth_value": 0.5, "lowercase": True, "tokenize": "intl"}),
        ("bleu", {"use_effective_order": True, "smooth_method": "add-k"}),
        ("chrf", {}),
        ("chrf", {"char_order": 4, "word_order": 2, "beta": 3}),
        ("chrf", {"remove_whitespace": False, "eps_smoothing": True}),
        ("ter", {}),
        ("ter", {"normalized": True, "no_punct": True}),
        ("ter", {"asian_support": True, "normalized": True, "case_sensitive": True}),
    ],
)
def test_functions(name, metric, arguments):
    texts = (SYS, REFS) if name == "corpus" else (SYS[2], [each[2] for each in REFS])
    found = getattr(steelyard, f"{name}_{metric}")(*texts, **arguments)
    equal(found, getattr(sacrebleu, f"{name}_{metric}")(*texts, **arguments))


def test_raw_bleu():
    for value in ((), (0.01,), (None,)):
        equal(steelyard.raw_corpus_bleu(SYS, REFS, *value), sacrebleu.raw_corpus_bleu(SYS, REFS, *value))


@given(
    words=st.integers(0, 9),
    reference=st.integers(0, 12),
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=6),
    method=st.sampled_from(["exp", "none", "floor", "add-k"]),
    value=st.sampled_from([None, 0, 0.1, 2]),
    effective=st.booleans(),
)
def test_bleu_of_counts(words, reference, shares, method, value, effective):
    totals = [max(0, words - place) for place in range(len(shares))]
    matches = [round(share * total) for share, total in zip(shares, totals, strict=True)]
    rest = (words, reference, method, value, effective, len(shares))
    wanted = sacrebleu.BLEU.compute_bleu([*matches], [*totals], *rest)
    equal(BLEU.compute_bleu(matches, totals, *rest), wanted)


def test_counts_as_many_as_orders():
    with pytest.raises(BadParameter):
        BLEU.compute_bleu([1, 2], [1, 2, 3], 4, 4, max_ngram_order=3)


def test_the_readme_of_sacrebleu():
    assert str(BLEU().corpus_score(SYS, REFS)) == (
        "BLEU = 48.53 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)"
    )
    assert str(CHRF().corpus_score(SYS, REFS)) == "chrF2 = 59.73"
    for metric in ("CHRF", "TER"):
        found, wanted = getattr(steelyard, metric)(), getattr(sacrebleu.metrics, metric)()
        assert str(found.corpus_score(SYS, REFS)) == str(wanted.corpus_score(SYS, REFS))
    varying = [[None, *REFS[0][1:]], REFS[1]]
    assert str(BLEU().corpus_score(SYS, varying)) == str(sacrebleu.BLEU().corpus_score(SYS, varying))


def test_names_of_modules_and_scores():
    assert steelyard.metrics.BLEU is BLEU
    assert steelyard.compat.corpus_ter is steelyard.corpus_ter
    assert isinstance(ChrF().corpus_score(SYS, REFS), steelyard.metrics.CHRFScore)
    assert {*steelyard.metrics.__all__} == {
        name for name in steelyard.metrics.__all__ if getattr(steelyard.metrics, name)
    }
    with pytest.raises(AttributeError):
        _ = steelyard.metrics.nothing


def test_what_scores_are_made_of():
    theirs, ours = sacrebleu.metrics.BLEU().corpus_score(SYS, REFS), BLEU().corpus_score(SYS, REFS)
    assert json.dumps([ours.counts, ours.totals]) == json.dumps([theirs.counts, theirs.totals])
    assert ours.precisions == pytest.approx(theirs.precisions, abs=1e-9)
    chrf = CHRF(word_order=2).corpus_score(SYS, REFS)
    assert (chrf.char_order, chrf.word_order, chrf.beta) == (6, 2, 2)
    assert float(chrf) == chrf.score


def test_a_score_as_json():
    found = json.loads(BLEU().corpus_score(SYS, REFS).format(is_json=True, signature="nrefs:2|tok:13a"))
    assert found == json.loads(
        sacrebleu.metrics.BLEU().corpus_score(SYS, REFS).format(is_json=True, signature="nrefs:2|tok:13a")
    )
    assert BLEU().corpus_score(SYS, REFS).format(score_only=True, width=1) == "48.5"


def test_references_may_be_given_once():
    kept = BLEU(references=REFS)
    assert kept.get_signature().startswith("nrefs:2|")
    assert kept.corpus_score(SYS, None).score == kept.corpus_score(SYS).score == BLEU().corpus_score(SYS, REFS).score
    assert kept == BLEU()
    assert TER(references=[REFS[0], [None, "No one.", None]]).get_signature().startswith("nrefs:var|")
    with pytest.raises(BadText):
        BLEU().corpus_score(SYS)


def test_the_signature_is_that_of_the_last_score():
    metric = ChrF()
    with pytest.raises(BadParameter):
        metric.get_signature()
    metric.corpus_score(SYS, REFS)
    assert metric.get_signature().startswith("nrefs:2|")
    metric.corpus_score(SYS, [REFS[0], [None, "No one.", None]])
    assert metric.get_signature().startswith("nrefs:var|")
